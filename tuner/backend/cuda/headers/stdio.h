#pragma once
// NVRTC itself knows printf.
