// No include guard: assert.h means what NDEBUG says each time it is included (ISO C 7.2).
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition)                                                                              \
  ((condition) ? (void)0                                                                               \
               : ::tuner_host::api->fail(::tuner_host::context.block, "assertion failed: " #condition, \
                                         __builtin_FILE(), __builtin_LINE()))
#endif
