#pragma once
// NVRTC itself knows size_t, ptrdiff_t and NULL.
#ifndef NULL
#define NULL 0
#endif
#ifndef offsetof
#define offsetof(type, member) __INTADDR__(&static_cast<type*>(nullptr)->member)
#endif
