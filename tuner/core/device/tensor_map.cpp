#include <tuner/core/device/tensor_map.hpp>

namespace tuner {

std::string text(const TensorMapShape& shape) {
  const auto listed = [&](TensorMapShape::Place first, std::size_t count) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += (i == 0 ? "" : ", ") + std::to_string(shape.numbers[first + i]);
    return all;
  };
  std::string all = shape.is_tf32 ? "tf32" : std::string(info(shape.type).name);
  all += '[' + listed(TensorMapShape::extent, shape.rank) + ']';
  if (shape.rank > 1) all += " strides " + listed(TensorMapShape::stride, shape.rank - 1);
  all += " box " + listed(TensorMapShape::box, shape.rank) + " steps " + listed(TensorMapShape::step, shape.rank);
  all += " swizzle " + listed(TensorMapShape::swizzle, 1) + " interleave " + listed(TensorMapShape::interleave, 1) +
         " promotion " + listed(TensorMapShape::promotion, 1);
  return all + (shape.fills_with_nan ? " fill nan" : "");
}

}  // namespace tuner
