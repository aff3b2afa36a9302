#pragma once
/// Makes entries of kernels that the engine can call. Arguments are pointers to values of the kernel's own types.

#include <typeinfo>  // also has std::exception; <exception> has ten times as many lines

namespace tuner_host {

/// Unseen: a fiber that is switched away here has not started its thread, so that another fiber is made for it.
__tuner_unseen inline void bind_dynamic_shared() {
  tuner_host_dynamic = reinterpret_cast<unsigned long>(context.block->shared);
}

/// Moves the current fiber on to the next thread of its block; false when all have been started.
__tuner_unseen inline bool start_next_thread() {
  Block& block = *context.block;
  // The atomic comes first: with clang, an interleaved object switches there in spite of __tuner_unseen.
  if (__atomic_load_n(block.stop, __ATOMIC_RELAXED) != 0 || block.next == block.threads) return false;
  Thread& thread = *context.thread;
  const unsigned started = block.next++;
  const unsigned linear = block.order != nullptr ? block.order[started] : started;
  thread.linear = linear;
  const unsigned row = linear / block.dim.x;
  thread.index.x = linear - row * block.dim.x;
  thread.index.z = row / block.dim.y;
  thread.index.y = row - thread.index.z * block.dim.y;
  return true;
}

__tuner_unseen inline void end_thread() {
  Block& block = *context.block;
  const unsigned linear = context.thread->linear;
  block.exited[linear >> 5] |= 1u << (linear & 31u);
  --block.live;
  if (block.waiting != 0 || block.cluster_blocks > 1) api->thread_exited(&block);
}

template <unsigned long... I>
struct Indices {};
template <unsigned long N>
struct MakeIndices {
  template <typename T, T... I>
  struct Make {
    using type = Indices<I...>;
  };
#if defined(__clang__)
  using type = typename __make_integer_seq<Make, unsigned long, N>::type;
#else
  using type = Indices<__integer_pack(N)...>;
#endif
};

template <typename T>
struct Value {
  using type = T;
};
template <typename T>
struct Value<const T> {
  using type = T;
};

template <typename... P>
struct Kernel {
  static constexpr unsigned sizes[sizeof...(P) + 1] = {sizeof(P)..., 0};

  // Not inlined: kernels with parameters of the same types share it, which saves a sixth of the time to compile them.
  template <unsigned long... I>
  __attribute__((__noinline__)) static void run(void (*kernel)(P...), void* const* arguments, Indices<I...>) {
    char message[256];
    if (!threw(kernel, arguments, Indices<I...>{}, message)) return;
    api->fail(context.block, message, nullptr, 0);
  }

 private:
  // Exceptions end here: the program that loaded this object may have its own unwinder, and two cannot work together.
  // Arguments lie where the caller has them: a struct of 32-byte alignment may begin at any multiple of 16.
  template <unsigned long... I>
  __attribute__((no_sanitize("alignment"))) static bool threw(void (*kernel)(P...), void* const* arguments, Indices<I...>, char (&message)[256]) {
    bind_dynamic_shared();
    __asm__ volatile("" ::: "memory");  // the compiler does not know that the names of dynamic arrays are this address
    try {
      while (start_next_thread()) {
        kernel(*static_cast<const P*>(arguments[I])...);
        end_thread();
      }
      return false;
    } catch (const std::exception& error) {
      __builtin_snprintf(message, sizeof message, "exception: %s", error.what());
    } catch (...) {
      __builtin_snprintf(message, sizeof message, "exception of an unknown type");
    }
    return true;
  }
};

template <auto K, typename Pointer = decltype(K)>
struct EntryOf {
  static_assert(sizeof(K) == 0, "a kernel is a __global__ function that returns void");
};
template <auto K, typename... P>
struct EntryOf<K, void (*)(P...)> {
  static void run(void* const* arguments) {
    Kernel<P...>::run(K, arguments, typename MakeIndices<sizeof...(P)>::type{});
  }
  static const EntryInfo info;
};
template <auto K, typename... P>
const EntryInfo EntryOf<K, void (*)(P...)>::info{&run, Kernel<P...>::sizes, sizeof...(P), typeid(void(P...)).name()};
template <auto K, typename... P>
struct EntryOf<K, void (*)(P...) noexcept> : EntryOf<K, void (*)(P...)> {};

}  // namespace tuner_host

extern "C" __attribute__((visibility("default"))) int tuner_host_bind(const tuner_host::Api* api) {
  if (api->version != tuner_host::kAbiVersion) return 0;
  tuner_host::api = api;
  return 1;
}
extern "C" __attribute__((visibility("default"))) tuner_host::Context* tuner_host_context() {
  return &tuner_host::context;
}

// Used after the kernel's text, therefore with reserved names, as in tuner_host.h.
using __tuner_entry_info = tuner_host::EntryInfo;
template <auto K>
constexpr const __tuner_entry_info* __tuner_entry = &tuner_host::EntryOf<K>::info;

// Exports the address and size of a variable.
#define TUNER_HOST_VARIABLE(number, name)                                                            \
  extern "C" __attribute__((__visibility__("default"))) void* __tuner_entry_##number(void** bytes) { \
    *bytes = reinterpret_cast<void*>(sizeof name);                                                   \
    return const_cast<void*>(static_cast<const volatile void*>(&name));                              \
  }

#define TUNER_HOST_ENTRY(number, ...)                                                                        \
  extern "C" __attribute__((__visibility__("default"))) const __tuner_entry_info* __tuner_entry_##number() { \
    return ::__tuner_entry<(__VA_ARGS__)>;                                                                   \
  }
