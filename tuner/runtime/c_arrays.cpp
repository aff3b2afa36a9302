// The functions of tuner.h for arrays.
#include <tuner/runtime/c_interface.hpp>

#include <tuner/array.hpp>

struct tuner_array {
  tuner::detail::ArrayMemory memory;
  std::size_t bytes;
};

namespace tuner::runtime {
namespace {

void require_room(const tuner_array* array, const void* memory, std::size_t bytes) {
  require(array, "array");
  if (bytes > 0) require(memory, "the host's memory");
  if (bytes > array->bytes)
    throw Error(ErrorCode::invalid_argument,
                "tuner: the array holds " + std::to_string(array->bytes) + " bytes, not " + std::to_string(bytes));
}

}  // namespace

// The attribute in tuner.h is that of the global names, not of these.
#pragma GCC visibility push(default)
extern "C" {

tuner_status tuner_array_new(size_t bytes, tuner_array** array) {
  return guarded([&] {
    require(array, "array");
    *array = new tuner_array{detail::ArrayMemory(bytes), bytes};
  });
}

void* tuner_array_data(tuner_array* array) { return array == nullptr ? nullptr : array->memory.address(); }

tuner_status tuner_array_upload(tuner_array* array, const void* from, size_t bytes) {
  return guarded([&] {
    require_room(array, from, bytes);
    array->memory.download(nullptr, 0);  // waits for launches that still read what was there
    array->memory.upload(from, bytes);
  });
}

tuner_status tuner_array_download(const tuner_array* array, void* to, size_t bytes) {
  return guarded([&] {
    require_room(array, to, bytes);
    array->memory.download(to, bytes);
  });
}

void tuner_array_free(tuner_array* array) { delete array; }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace tuner::runtime
