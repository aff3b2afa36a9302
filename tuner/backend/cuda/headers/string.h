#pragma once
// NVRTC itself knows memcpy and memset.
