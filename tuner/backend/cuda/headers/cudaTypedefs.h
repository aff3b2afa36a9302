#pragma once
// The toolkit's own header has the types of the driver's functions, which device code does not call.
#include <cuda.h>
