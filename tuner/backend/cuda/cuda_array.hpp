#pragma once
/// Arrays and linear memory that texture and surface objects read and write ("Texture Object Management", CUDA Driver
/// API). Private to this folder.

#include <cstdint>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/cuda/backend_state.hpp>

namespace tuner::cuda {

class CudaArray final : public DeviceArray {
 public:
  /// In the state's context, which must be current. Throws Error if there is no room or the driver refuses the array.
  CudaArray(SharedState state, const ArrayShape& shape);
  ~CudaArray() override;

  std::uint64_t texture(const TextureReading& reading) override;
  std::uint64_t surface() override;
  void load(DevicePointer from) override { copy(from, true); }
  void store(DevicePointer to) override { copy(to, false); }

 private:
  void copy(DevicePointer memory, bool into_array);
  CUDA_RESOURCE_DESC resource() const;
  CUarray_format format() const;
  /// Throws Error unless \p result is a success; \p what: for the message.
  void watch(CUresult result, const std::string& what) const;

  SharedState state_;
  ArrayShape shape_;
  CUarray array_ = nullptr;
  CUdeviceptr memory_ = 0;  ///< instead of the array, for tex1Dfetch
  std::vector<CUtexObject> textures_;
  std::vector<CUsurfObject> surfaces_;
};

}  // namespace tuner::cuda
