// No include guard: each #include looks at NDEBUG again (ISO C 7.2). NVRTC itself knows assert.
#ifdef NDEBUG
#undef assert
#define assert(condition) (static_cast<void>(0))
#endif
