// tuner.h: each function checks its arguments, and makes the call of the C++ interface. Kernels are in c_kernel.cpp,
// texts and databases of results in c_data.cpp.
#include <tuner/runtime/interfaces/c_interface.hpp>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>

#include <tuner/core/values/element_type.hpp>
#include <tuner/reduce.hpp>
#include <tuner/runtime/decide/serving.hpp>
#include <tuner/settings.hpp>
#include <tuner/sum_matrix_2d.hpp>

namespace tuner::runtime {
namespace {

static_assert(TUNER_OTHER_ERROR == 1 + static_cast<int>(ErrorCode::other));
static_assert(TUNER_OUT_OF_MEMORY == 1 + static_cast<int>(ErrorCode::out_of_memory));
static_assert(TUNER_CACHE_ERROR == 1 + static_cast<int>(ErrorCode::cache));
static_assert(TUNER_HALF == static_cast<int>(ElementType::half) && TUNER_E8M0 == detail::element_code<__nv_fp8_e8m0>());
static_assert(TUNER_PRODUCT == static_cast<int>(Operation::product) && TUNER_ANY_ORDER == static_cast<int>(Order::any));

constexpr const char* kStatusNames[] = {"ok",           "other error",    "invalid argument", "invalid kernel",
                                        "not found",    "not prepared",   "out of memory",    "context lost",
                                        "device error", "compiler error", "cache error"};

thread_local std::string last_error;

/// For functions whose kernel follows from the type.
detail::LaunchArgument elements(tuner_type type, const void* data, bool is_const = true) {
  if (type == TUNER_VOID) refuse("the type of the elements is needed, not TUNER_VOID");
  return pointer_to(type, data, is_const);
}

ReduceOptions reduce_options(const tuner_reduce_options* given) {
  constexpr tuner_reduce_options defaults = TUNER_REDUCE_OPTIONS;
  const tuner_reduce_options options = options_of(given, defaults);
  return {static_cast<Operation>(options.operation),
          options.stream,
          static_cast<Order>(options.order),
          {options.workspace, options.workspace_bytes}};
}

}  // namespace

tuner_status fail(ErrorCode code, const char* message) noexcept {
  try {
    last_error = message;
  } catch (...) {
    last_error.clear();
  }
  return static_cast<tuner_status>(1 + static_cast<int>(code));
}

tuner_status fail_with_current_exception() noexcept {
  try {
    leave_with_error();
  } catch (const Error& error) {
    return fail(error.code(), error.what());
  } catch (...) {
    return fail(ErrorCode::other, "tuner: a function of the program threw something that is not a std::exception");
  }
}

void refuse(const std::string& message) { throw Error(ErrorCode::invalid_argument, "tuner: " + message); }

detail::LaunchArgument pointer_to(tuner_type type, const void* data, bool is_const) {
  if (type < TUNER_VOID || type > TUNER_E8M0) refuse("there is no element type " + std::to_string(type));
  detail::LaunchArgument argument;
  argument.is_const = is_const;
  argument.element = static_cast<std::int8_t>(type);
  argument.pointer = data;
  return argument;
}

void require(const void* pointer, const char* what) {
  if (pointer == nullptr) refuse(std::string(what) + " is null");
}

char* callers_text(std::string_view text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

// The attribute in tuner.h is that of the global names, not of these.
#pragma GCC visibility push(default)
extern "C" {

const char* tuner_last_error() { return last_error.c_str(); }

const char* tuner_status_name(tuner_status status) {
  const auto at = static_cast<std::size_t>(status);
  return at < std::size(kStatusNames) ? kStatusNames[at] : "unknown status";
}

const char* tuner_version() { return kVersion; }

void tuner_text_free(char* text) { std::free(text); }

size_t tuner_type_bytes(tuner_type type) {
  return type > TUNER_VOID && type <= TUNER_E8M0 ? info(static_cast<ElementType>(type)).bytes : 0;
}

tuner_status tuner_set(const char* name, const char* value) {
  return guarded([&] {
    require(name, "name", value, "value");
    Serving::process().change([&](Settings& settings) { set(settings, name, name, value); });
  });
}

tuner_status tuner_on_warning(void (*warn)(const char* message, void* user), void* user) {
  return guarded([&] {
    std::function<void(std::string_view)> sink;
    if (warn != nullptr) sink = [warn, user](std::string_view message) { warn(std::string(message).c_str(), user); };
    Serving::process().change([&](Settings& settings) { settings.on_warning = std::move(sink); });
  });
}

tuner_status tuner_trim() {
  return guarded([] { tuner::trim(); });
}

tuner_type tuner_reduce_result(tuner_type type) {
  switch (type) {
    case TUNER_INT8:
    case TUNER_INT16:
      return TUNER_INT64;
    case TUNER_UINT8:
    case TUNER_UINT16:
      return TUNER_UINT64;
    case TUNER_HALF:
    case TUNER_BFLOAT16:
      return TUNER_FLOAT;
    default:
      return type;
  }
}

tuner_status tuner_reduce(tuner_type type, const void* data, int64_t n, const tuner_reduce_options* options,
                          void* result, size_t result_bytes) {
  return guarded([&] {
    require(result, "result");
    const std::size_t expected = tuner_type_bytes(tuner_reduce_result(type));
    if (result_bytes != expected)
      refuse("the result has " + std::to_string(expected) + " bytes, not " + std::to_string(result_bytes));
    detail::reduce(elements(type, data), n, result, result_bytes, reduce_options(options));
  });
}

tuner_status tuner_reduce_async(tuner_type type, const void* data, int64_t n, void* out,
                                const tuner_reduce_options* options) {
  return guarded([&] { detail::reduce_async(elements(type, data), n, out, reduce_options(options)); });
}

tuner_status tuner_reduce_prepare(tuner_type type, const void* data, int64_t n, const tuner_reduce_options* options,
                                  size_t captures, size_t* workspace_bytes) {
  return guarded([&] {
    const std::size_t bytes = detail::reduce_prepare(elements(type, data), n, reduce_options(options), captures);
    if (workspace_bytes != nullptr) *workspace_bytes = bytes;
  });
}

tuner_status tuner_sum_matrix_2d(tuner_type type, const void* a, const void* b, void* c, int64_t nx, int64_t ny,
                                 tuner_stream stream) {
  return guarded([&] {
    detail::sum_matrix_2d({elements(type, a), elements(type, b), elements(type, c, false)}, {nx, ny}, stream);
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace tuner::runtime
