#include <tuner/runtime/call/plan.hpp>

#include <array>
#include <cstdint>
#include <optional>

#include <tuner/measure/bound_arguments.hpp>

namespace tuner::runtime {
namespace {

void store_argument(std::byte* to, const ParameterSource& source, const Call& call, const std::string& kernel) {
  const auto store = [&](auto number) {
    if (store_number(to, source.type, number)) return;
    throw refusal(kernel, " takes argument " + std::to_string(source.index + 1) + " of the call as " +
                              std::string(info(source.type).name) + ", which cannot hold " + number_text(number) +
                              "; pass a number that fits");
  };
  with_number(call.arguments[source.index], store);
}

std::byte* store_pointer(std::byte* to, DevicePointer address) {
  __builtin_memcpy(to, &address, sizeof address);
  return to;
}

DevicePointer memory_of(const PlannedTensorMap& map, const Call& call, const WorkSpace& work) {
  using From = ParameterSource::Kind;
  const ParameterSource& memory = map.memory;
  if (memory.kind == From::zeroed) return work.zeroed + memory.index;
  if (memory.kind == From::scratch) return work.scratch + memory.index;
  return reinterpret_cast<DevicePointer>(call.arguments[memory.index].pointer);
}

/// The maps that this thread made last. A call that repeats a shape pays for the address alone, and one that repeats
/// both for a copy. They depend on nothing else but the chip, so a plan may go while they stay.
struct MadeMap {
  TensorMapShape shape;
  int chip = 0;
  DevicePointer address = 0;  ///< 0: there is no map
  TensorMap map;
};
thread_local std::array<MadeMap, kMaxTensorMaps> made_maps;

/// \p shape with its values for the sizes of \p call.
TensorMapShape sized_shape(const PlannedTensorMap& map, const Call& call) {
  TensorMapShape shape = map.shape;
  for (const auto& [place, value] : map.sized)
    shape.numbers[place] = value.evaluate(call.sizes.data()).value_or(0);  // the plan's conditions ensure the value
  return shape;
}

const TensorMap& made_map(MadeMap& last, const TensorMapShape& shape, int chip, DevicePointer address,
                          Backend& backend) {
  const bool fits = last.address != 0 && last.chip == chip && last.shape == shape;
  if (fits && last.address == address) return last.map;
  last.address = 0;  // until it is made
  if (fits) {
    backend.move_tensor_map(last.map, shape, address);
  } else {
    last.map = backend.tensor_map(shape, address);
    last.shape = shape;
    last.chip = chip;
  }
  last.address = address;
  return last.map;
}

/// A pointer to the value of a parameter, as the driver takes it. \p room: 8 bytes, for values that are not stored yet.
void* parameter(const ParameterSource& source, const Call& call, const WorkSpace& work, std::byte* room,
                const TensorMap* maps, const std::string& kernel) {
  using From = ParameterSource::Kind;
  switch (source.kind) {
    case From::structure:
      if (call.arguments[source.index].integer != source.constant.size)
        throw refusal(kernel, " takes argument " + std::to_string(source.index + 1) + " of the call as a struct of " +
                                  std::to_string(source.constant.size) + " bytes, and the call gives " +
                                  std::to_string(call.arguments[source.index].integer));
      return const_cast<void*>(call.arguments[source.index].pointer);
    case From::constant:  // the driver only reads
      return const_cast<std::byte*>(source.constant.bytes);
    case From::pointer:
      return const_cast<const void**>(&call.arguments[source.index].pointer);
    case From::zeroed:
      return store_pointer(room, work.zeroed + source.index);
    case From::scratch:
      return store_pointer(room, work.scratch + source.index);
    case From::number:
      store_argument(room, source, call, kernel);
      return room;
    case From::computed:
      store_number(room, source.type, source.computed.evaluate(call.sizes.data()).value_or(0));
      return room;
    case From::size:
      store_number(room, source.type, call.sizes[source.index]);  // fits: no class crosses an integer type's limit
      return room;
    case From::tensor_map:
      return const_cast<TensorMap*>(&maps[source.index]);
  }
  return nullptr;
}

/// Enqueues the launches of \p plan, which have at most \p most parameters. Their room is on the stack, because a warm
/// call allocates nothing. A kernel with few parameters needs a small stack.
template <std::size_t most>
[[gnu::noinline]] void launch_with(const Plan& plan, const Call& call, const Plan::Shapes& shapes,
                                   const WorkSpace& space, const TensorMap* maps) {
  void* parameters[most];
  alignas(8) std::byte rooms[most][8];
  std::size_t at = 0;
  for (const PlannedLaunch& launch : plan.launches)
    for (const ParameterSource& source : launch.parameters) {
      parameters[at] = parameter(source, call, space, rooms[at], maps, plan.kernel);
      ++at;
    }
  void* const* of_launch = parameters;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    plan.backend.enqueue(*plan.module, plan.launches[i].function, shapes[i], of_launch, call.stream.handle());
    of_launch += plan.launches[i].parameters.size();
  }
}

}  // namespace

void Plan::launch(const Call& call, const Shapes& shapes, const WorkSpace& space) const {
  if (maps.empty()) return launch(call, shapes, space, nullptr);
  std::array<TensorMap, kMaxTensorMaps> made;
  const std::size_t first = reinterpret_cast<std::uintptr_t>(this) / sizeof(Plan);  // plans share few places
  for (std::size_t i = 0; i < maps.size(); ++i) {
    try {
      MadeMap& last = made_maps[(first + i) % made_maps.size()];
      const DevicePointer address = memory_of(maps[i], call, space);
      std::optional<TensorMapShape> sized;
      if (!maps[i].sized.empty()) sized = sized_shape(maps[i], call);
      made[i] = made_map(last, sized ? *sized : maps[i].shape, maps[i].chip, address, backend);
    } catch (const TensorMapError& error) {
      throw refusal(kernel, ": tensor map '" + maps[i].name + "': " + error.what());
    }
  }
  launch(call, shapes, space, made.data());
}

void Plan::launch(const Call& call, const Shapes& shapes, const WorkSpace& space, const TensorMap* made) const {
  if (parameters <= 64) return launch_with<64>(*this, call, shapes, space, made);
  if (parameters <= 1024) return launch_with<1024>(*this, call, shapes, space, made);
  launch_with<kMaxParameters>(*this, call, shapes, space, made);
}

}  // namespace tuner::runtime
