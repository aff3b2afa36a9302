#include <tuner/backend/host/texture.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

#include <tuner/backend/host/memory.hpp>
#include <tuner/backend/host/shim/tuner_host_abi.h>

namespace tuner::host {
namespace {

using tuner_host::TextureObject;

TextureObject::Kind kind_of(ElementType type) {
  switch (type) {
    case ElementType::half:
      return TextureObject::kHalf;
    case ElementType::float32:
      return TextureObject::kFloat;
    case ElementType::int8:
    case ElementType::int16:
    case ElementType::int32:
      return TextureObject::kSigned;
    default:
      return TextureObject::kUnsigned;
  }
}

class HostArray final : public DeviceArray {
 public:
  explicit HostArray(const ArrayShape& shape) : shape_(shape), memory_(allocate(shape.bytes())) {
    object_.data = reinterpret_cast<unsigned char*>(memory_->address());
    object_.components = shape.components;
    object_.bytes = static_cast<int>(info(shape.type).bytes);
    object_.kind = kind_of(shape.type);
    for (std::size_t i = 0; i < shape.extent.size(); ++i) {
      object_.size[i] = std::max<std::size_t>(shape.extent[i], 1);
      if (shape.extent[i] > 0) object_.dimensions = static_cast<int>(i) + 1;
    }
  }

  std::uint64_t texture(const TextureReading& reading) override {
    require_readable(shape_, reading);
    TextureObject object = object_;
    object.outside = static_cast<TextureObject::Outside>(reading.outside);
    object.linear = reading.linear;
    object.normalized = reading.normalized;
    object.as_float = reading.as_float;
    object.fetched = reading.fetched;
    return keep(object);
  }
  std::uint64_t surface() override {
    require_surface(shape_);
    TextureObject object = object_;
    object.surface = true;
    return keep(object);
  }
  void load(DevicePointer from) override {
    std::memcpy(object_.data, reinterpret_cast<const void*>(from), shape_.bytes());
  }
  void store(DevicePointer to) override { std::memcpy(reinterpret_cast<void*>(to), object_.data, shape_.bytes()); }

 private:
  std::uint64_t keep(const TextureObject& object) {
    objects_.push_back(std::make_unique<TextureObject>(object));
    objects_.back()->self = objects_.back().get();
    return reinterpret_cast<std::uint64_t>(objects_.back().get());
  }

  ArrayShape shape_;
  std::unique_ptr<DeviceMemory> memory_;
  TextureObject object_{};
  std::vector<std::unique_ptr<TextureObject>> objects_;
};

}  // namespace

std::unique_ptr<DeviceArray> allocate_array(const ArrayShape& shape) {
  require_elements(shape);
  return std::make_unique<HostArray>(shape);
}

}  // namespace tuner::host
