// No include guard: what NDEBUG says counts each time (ISO C 7.2). NVRTC itself knows assert and NDEBUG at the start.
#ifdef NDEBUG
#undef assert
#define assert(condition) (static_cast<void>(0))
#endif
