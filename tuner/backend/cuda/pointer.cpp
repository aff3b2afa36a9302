#include <tuner/backend/cuda/pointer.hpp>

#include <cstdint>
#include <iterator>

#include <tuner/backend/cuda/driver.hpp>

namespace tuner::cuda {

PointerInfo pointer_info(const void* address) {
  unsigned memory_type = 0, managed = 0;
  int device = -1;
  CUcontext context = nullptr;
  CUdeviceptr here = 0;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_CONTEXT,
                                      CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
  void* answers[] = {&memory_type, &managed, &device, &context, &here};
  // For an unknown address, this call returns zeros; cuPointerGetAttribute fails.
  const CUresult result = driver().cuPointerGetAttributes(std::size(attributes), attributes, answers,
                                                          reinterpret_cast<std::uintptr_t>(address));
  if (result == CUDA_ERROR_INVALID_VALUE) return {};
  check(result, "cuPointerGetAttributes");
  PointerInfo info;
  if (managed != 0) {
    info.kind = PointerKind::managed;
  } else if (memory_type == CU_MEMORYTYPE_DEVICE) {
    info.kind = PointerKind::device;
  } else if (memory_type == CU_MEMORYTYPE_HOST) {
    info.kind = PointerKind::host;
  } else {
    return {};
  }
  info.context = context;
  info.device = device;
  info.here = here;
  return info;
}

}  // namespace tuner::cuda
