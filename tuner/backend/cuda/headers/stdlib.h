#pragma once
// NVRTC itself knows abs, malloc and free.
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
