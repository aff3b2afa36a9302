#include <tuner/backend/cuda/driver/discovery.hpp>

#include <iterator>

#include <fmt/format.h>

#include <tuner/backend/cuda/driver/architecture.hpp>
#include <tuner/backend/cuda/driver/nvrtc.hpp>

namespace tuner::cuda {

int device_attribute(CUdevice device, CUdevice_attribute attribute, SourcePlace place) {
  int value = 0;
  check(driver().cuDeviceGetAttribute(&value, attribute, device), "cuDeviceGetAttribute", place);
  return value;
}

CUdevice device_handle(int ordinal) {
  const int devices = driver_status().devices;
  const Driver& functions = driver();  // its error about a missing driver is clearer
  if (ordinal < 0 || ordinal >= devices) {
    throw Error(ErrorCode::not_found,
                "device " + std::to_string(ordinal) + " does not exist: this machine has " + std::to_string(devices));
  }
  CUdevice device = 0;
  check(functions.cuDeviceGet(&device, ordinal), "cuDeviceGet");
  return device;
}

int current_ordinal() {
  CUdevice current = 0;
  check(driver().cuCtxGetDevice(&current), "cuCtxGetDevice");
  int ordinal = 0;
  while (device_handle(ordinal) != current) ++ordinal;
  return ordinal;
}

namespace {

int query_compute_capability(CUdevice device) {
  return 10 * device_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
         device_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
}

DeviceLimits query_limits(CUdevice device) {
  const auto get = [device](CUdevice_attribute attribute) { return device_attribute(device, attribute); };
  DeviceLimits limits;
  limits.warp_size = get(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  limits.sm_count = get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  limits.max_threads_per_block = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  limits.max_block = {get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X), get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                      get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)};
  limits.max_grid = {get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
                     get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)};
  limits.shared_bytes_per_block = get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  limits.max_shared_bytes = get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  limits.shared_bytes_per_sm = get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  limits.reserved_shared_bytes = get(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  limits.registers_per_block = get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  limits.registers_per_sm = get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  limits.max_threads_per_sm = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  limits.max_blocks_per_sm = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  limits.cooperative_launch = get(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) != 0;
  limits.compute_capability = query_compute_capability(device);
  limits.fp32_lanes_per_sm = cores_per_sm(limits.compute_capability);
  return limits;
}

}  // namespace

std::vector<int> query_compute_capabilities() {
  std::vector<int> capabilities;
  for (int i = 0; i < driver_status().devices; ++i) capabilities.push_back(query_compute_capability(device_handle(i)));
  return capabilities;
}

std::string pci_address(CUdevice device) {
  return fmt::format("{:04x}:{:02x}:{:02x}.0", device_attribute(device, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
                     device_attribute(device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
                     device_attribute(device, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
}

Device query_device(int ordinal, bool compiler) {
  const CUdevice handle = device_handle(ordinal);
  Device device;
  device.index = ordinal;
  device.limits = query_limits(handle);
  device.key.backend = "cuda";
  device.key.compute_capability = device.limits.compute_capability;
  device.key.sm_count = device.limits.sm_count;
  device.key.l2_bytes = device_attribute(handle, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  device.key.memory_bus_bits = device_attribute(handle, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  device.key.max_shared_bytes = device.limits.max_shared_bytes;
  device.key.registers_per_sm = device.limits.registers_per_sm;
  device.environment.driver = version_text(driver_status().version);
  if (const NvrtcFacts* const nvrtc = compiler ? find_nvrtc_facts() : nullptr)
    device.environment.compiler = "nvrtc " + version_text(nvrtc->version);
  char name[256] = {};
  check(driver().cuDeviceGetName(name, sizeof name, handle), "cuDeviceGetName");
  device.name = name;
  return device;
}

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
  if (managed != 0) return {PointerKind::managed, context, device, here};
  if (memory_type == CU_MEMORYTYPE_DEVICE) return {PointerKind::device, context, device, here};
  if (memory_type == CU_MEMORYTYPE_HOST) return {PointerKind::host, context, device, here};
  return {};
}

}  // namespace tuner::cuda
