#include <tuner/runtime/call/plan.hpp>

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

/// A pointer to the value of a parameter, as the driver takes it. \p room: 8 bytes, for values that are not stored yet.
void* parameter(const ParameterSource& source, const Call& call, const WorkSpace& work, std::byte* room,
                const std::string& kernel) {
  using From = ParameterSource::Kind;
  switch (source.kind) {
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
  }
  return nullptr;
}

}  // namespace

void Plan::launch(const Call& call, const Shapes& shapes, const WorkSpace& space) const {
  void* parameters[kMaxLaunches][kMaxParameters];
  alignas(8) std::byte rooms[kMaxLaunches][kMaxParameters][8];
  for (std::size_t i = 0; i < launches.size(); ++i)
    for (std::size_t k = 0; k < launches[i].parameters.size(); ++k)
      parameters[i][k] = parameter(launches[i].parameters[k], call, space, rooms[i][k], kernel);
  for (std::size_t i = 0; i < launches.size(); ++i)
    backend.enqueue(*module, launches[i].function, shapes[i], parameters[i], call.stream.handle());
}

}  // namespace tuner::runtime
