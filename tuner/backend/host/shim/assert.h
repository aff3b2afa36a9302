// No include guard: assert.h means what NDEBUG says each time it is included (ISO C 7.2).
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) \
  ((condition) ? (void)0  \
               : ::__tuner_assertion_failed("assertion failed: " #condition, __builtin_FILE(), __builtin_LINE()))
#endif
