#pragma once
/// Everything that this header of the toolkit gives to device code is in tuner_host.h.
#include "tuner_host.h"
