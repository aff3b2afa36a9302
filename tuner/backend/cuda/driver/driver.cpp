#include <tuner/backend/cuda/driver/driver.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include <tuner/core/values/passing.hpp>

namespace tuner::cuda {
namespace {

/// Binds all functions. Afterwards, \p library.missing() names the first required one that it lacks.
void bind_all(Library& library, Driver& table) {
#define TUNER_TRY(name) library.bind(TUNER_NAME(name), table.name);
  TUNER_CUDA_REQUIRED(TUNER_REQUIRE)
  TUNER_CUDA_OPTIONAL(TUNER_TRY)
#undef TUNER_TRY
  // Older drivers have it only without a version in its name, with the same parameters.
  if (table.cuEventElapsedTime == nullptr) library.require("cuEventElapsedTime", table.cuEventElapsedTime);
}

std::string describe(const Driver& driver, CUresult result) {
  const char* name = nullptr;
  const char* description = nullptr;
  driver.cuGetErrorName(result, &name);
  driver.cuGetErrorString(result, &description);
  std::string text = name != nullptr ? name : "CUDA error " + std::to_string(static_cast<int>(result));
  if (description != nullptr) text += " (" + std::string(description) + ")";
  return text;
}

constexpr const char* kLibrary = "libcuda.so.1";

/// The driver, once its state is certain. Until then returns null, and \p now gets the state of the moment.
const LoadedDriver* process_driver(DriverStatus* now = nullptr) {
  // Never destroyed, because destructors of static objects may launch kernels.
  static std::atomic<const LoadedDriver*> certain{nullptr};
  if (const LoadedDriver* const known = certain.load(std::memory_order_acquire)) [[likely]]
    return known;
  static std::mutex& loading = *new std::mutex;
  const std::lock_guard lock(loading);
  if (const LoadedDriver* const known = certain.load(std::memory_order_relaxed)) return known;
  auto loaded = std::make_unique<LoadedDriver>(load_driver(kLibrary));
  if (loaded->status.passing) {
    if (now != nullptr) *now = std::move(loaded->status);
    return nullptr;
  }
  certain.store(loaded.get(), std::memory_order_release);
  return loaded.release();
}

/// Whether cuInit() may succeed a moment later.
bool is_passing_start(CUresult result) {
  return result == CUDA_ERROR_OUT_OF_MEMORY || result == CUDA_ERROR_OPERATING_SYSTEM ||
         result == CUDA_ERROR_SYSTEM_NOT_READY || result == CUDA_ERROR_DEVICE_UNAVAILABLE;
}

/// The path inside the repository, without the build machine's folders.
std::string_view short_path(std::string_view path) {
  const std::size_t at = path.rfind("/tuner/");
  return at == std::string_view::npos ? path : path.substr(at + 1);
}

/// Fills in \p driver and \p status. Returns why the driver in \p file cannot be used; empty: it can.
std::string start(const std::string& file, Driver& driver, DriverStatus& status) {
  Library library(file, RTLD_NOW);
  if (!library) {
    status.passing = is_passing(library.error());
    return library.error().find("No such file") != std::string::npos
               ? file + " not found: no NVIDIA driver is installed"
               : file + " cannot be loaded: " + with_advice(library.error());
  }
  bind_all(library, driver);
  if (driver.cuDriverGetVersion != nullptr) driver.cuDriverGetVersion(&status.version);
  if (status.version == 0) return file + " is not a CUDA driver";
  const std::string name = "driver " + version_text(status.version);
  if (status.version < kOldestDriver)
    return name + " is older than " + version_text(kOldestDriver) + "; install a newer NVIDIA driver";
  if (!library.missing().empty()) return name + " lacks " + library.missing();
  const CUresult initialised = driver.cuInit(0);
  status.forked = initialised == CUDA_ERROR_NOT_INITIALIZED;
  if (status.forked) return kForked;
  status.passing = is_passing_start(initialised);
  if (initialised != CUDA_SUCCESS && initialised != CUDA_ERROR_NO_DEVICE)
    return "cuInit failed: " + describe(driver, initialised);
  const CUresult counted = initialised == CUDA_SUCCESS ? driver.cuDeviceGetCount(&status.devices) : CUDA_SUCCESS;
  status.passing = is_passing_start(counted);
  if (counted != CUDA_SUCCESS) return "cuDeviceGetCount failed: " + describe(driver, counted);
  return status.devices == 0 ? name + " finds no device" : "";
}

}  // namespace

LoadedDriver load_driver(const char* library) {
  LoadedDriver loaded;
  loaded.status.reason = start(library, loaded.functions, loaded.status);
  loaded.status.available = loaded.status.reason.empty();
  return loaded;
}

int driver_version() {
  const Library library(kLibrary);
  decltype(&cuDriverGetVersion) ask = nullptr;
  int version = 0;
  if (library && library.bind("cuDriverGetVersion", ask)) ask(&version);
  return version;
}

DriverStatus driver_status() {
  DriverStatus now;
  const LoadedDriver* const loaded = process_driver(&now);
  return loaded != nullptr ? loaded->status : now;
}

const Driver& driver() {
  const LoadedDriver* const loaded = process_driver();
  if (loaded == nullptr || !loaded->status.available) [[unlikely]] {
    const DriverStatus status = driver_status();
    const std::string why = "no usable GPU: " + status.reason;
    if (status.passing) throw Passing(ErrorCode::device, why);
    if (!status.available) throw Error(status.forked ? ErrorCode::context_lost : ErrorCode::not_found, why);
    return driver();  // it has become available since
  }
  return loaded->functions;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 10);
}

namespace {

ErrorCode error_code(CUresult result) {
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return ErrorCode::out_of_memory;
  return is_sticky(result) ? ErrorCode::context_lost : ErrorCode::device;
}

}  // namespace

CudaError::CudaError(CUresult result, const std::string& call, std::string place)
    : Error(error_code(result), call + " failed at " + place + ": " + describe(driver(), result)),
      result_(result),
      place_(std::move(place)) {}

std::string error_text(CUresult result) { return describe(driver(), result); }

bool is_sticky(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_UNKNOWN:
      return true;
    default:
      return false;
  }
}

void throw_error(CUresult result, const char* call, SourcePlace place) {
  throw CudaError(result, call, std::string(short_path(place.file)) + ':' + std::to_string(place.line));
}

}  // namespace tuner::cuda
