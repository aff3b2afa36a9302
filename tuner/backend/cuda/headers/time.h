#pragma once
// NVRTC itself knows clock and clock_t.
