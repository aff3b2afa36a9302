#include <iostream>

#include <tests/support/gpu_fixture.hpp>

#include <tuner/backend/cuda/driver/architecture.hpp>
#include <tuner/backend/cuda/driver/context.hpp>
#include <tuner/backend/cuda/driver/discovery.hpp>
#include <tuner/backend/cuda/run/device_report.hpp>

namespace tuner::cuda {
namespace {

class GpuDevice : public GpuTest {};

TEST_F(GpuDevice, HasAKeyAndLimitsThatMakeSense) {
  const Device device = query_device(0);
  EXPECT_EQ(device.key.backend, "cuda");
  EXPECT_GE(device.key.compute_capability, 75);
  EXPECT_GT(device.key.sm_count, 0);
  EXPECT_GT(device.key.l2_bytes, 0);
  EXPECT_GT(device.key.memory_bus_bits, 0);
  EXPECT_EQ(device.key.max_shared_bytes, device.limits.max_shared_bytes);
  EXPECT_EQ(device.limits.warp_size, 32);
  EXPECT_FALSE(device.name.empty());
  EXPECT_EQ(device.environment.driver, version_text(driver_status().version));
  EXPECT_EQ(driver_version(), driver_status().version);
}

TEST_F(GpuDevice, HasTheLimitsOfItsArchitecture) {
  const DeviceLimits actual = query_device(0).limits;
  const DeviceLimits table = limits_of_architecture(architecture_name(actual.compute_capability));
  EXPECT_EQ(actual.max_threads_per_block, table.max_threads_per_block);
  EXPECT_EQ(actual.max_block, table.max_block);
  EXPECT_EQ(actual.max_grid, table.max_grid);
  EXPECT_EQ(actual.shared_bytes_per_block, table.shared_bytes_per_block);
  EXPECT_EQ(actual.max_shared_bytes, table.max_shared_bytes);
  EXPECT_EQ(actual.shared_bytes_per_sm, table.shared_bytes_per_sm);
  EXPECT_EQ(actual.reserved_shared_bytes, table.reserved_shared_bytes);
  EXPECT_EQ(actual.registers_per_block, table.registers_per_block);
  EXPECT_EQ(actual.registers_per_sm, table.registers_per_sm);
  EXPECT_EQ(actual.max_threads_per_sm, table.max_threads_per_sm);
  EXPECT_EQ(actual.max_blocks_per_sm, table.max_blocks_per_sm);
}

TEST_F(GpuDevice, AnOrdinalThatDoesNotExistIsAnError) {
  EXPECT_THAT([] { query_device(999); }, ThrowsMessage<Error>(HasSubstr("device 999 does not exist")));
  EXPECT_THROW(make_cuda_backend({.device = -1, .use_current_context = false}), Error);
}

TEST_F(GpuDevice, ReportsItsFactsWithUnits) {
  const auto rows = device_report(0);
  std::cout << "[ report   ]\n";
  for (const auto& [name, value] : rows) {
    std::cout << "  " << name << ": " << value << '\n';
    EXPECT_FALSE(value.empty()) << name;
  }
  EXPECT_GE(rows.size(), 30u);
}

TEST_F(GpuDevice, UsesTheCallersContextWhenAskedTo) {
  EXPECT_THROW(make_cuda_backend({.device = 0, .use_current_context = true}), Error) << "no context is current";
  const Context context = Context::primary(0);
  const ContextGuard guard(context.handle());
  const auto borrowed = make_cuda_backend({.device = 0, .use_current_context = true});
  EXPECT_EQ(borrowed->device().index, 0);
  EXPECT_EQ(pointer_info(reinterpret_cast<void*>(borrowed->allocate(64)->address())).context, context.handle());
}

TEST_F(GpuDevice, LeavesTheCurrentContextAsItWas) {
  backend().allocate(64);
  EXPECT_THROW(Context::current(), Error) << "no context is current";
}

TEST_F(GpuDevice, TellsDeviceHostAndManagedPointersApart) {
  const auto memory = backend().allocate(1024);
  const PointerInfo device = pointer_info(reinterpret_cast<void*>(memory->address() + 512));
  EXPECT_EQ(device.kind, PointerKind::device);
  EXPECT_EQ(device.device, 0);
  EXPECT_NE(device.context, nullptr);

  int ordinary = 0;
  EXPECT_EQ(pointer_info(&ordinary).kind, PointerKind::unknown);
  EXPECT_EQ(pointer_info(nullptr).kind, PointerKind::unknown);

  const Context context = Context::primary(0);
  const ContextGuard guard(context.handle());
  const MappedMemory pinned(64);
  EXPECT_EQ(pointer_info(pinned.host()).kind, PointerKind::host);
  CUdeviceptr managed = 0;
  check(driver().cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL), "cuMemAllocManaged");
  EXPECT_EQ(pointer_info(reinterpret_cast<void*>(managed)).kind, PointerKind::managed);
  driver().cuMemFree(managed);
}

}  // namespace
}  // namespace tuner::cuda
