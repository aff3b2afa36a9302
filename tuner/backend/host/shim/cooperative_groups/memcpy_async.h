#pragma once
/// Everything that this header of the toolkit gives to device code is in cooperative_groups.h.
#include "../cooperative_groups.h"
