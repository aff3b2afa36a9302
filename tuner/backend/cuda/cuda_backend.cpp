#include <tuner/backend/cuda/cuda_backend.hpp>

#include <algorithm>
#include <bit>
#include <future>
#include <mutex>
#include <utility>

#include <tuner/backend/cuda/compile/nvrtc_compiler.hpp>
#include <tuner/backend/cuda/driver/architecture.hpp>
#include <tuner/backend/cuda/driver/discovery.hpp>
#include <tuner/backend/cuda/observe/chip_metrics.hpp>
#include <tuner/backend/cuda/observe/energy.hpp>
#include <tuner/backend/cuda/observe/yardsticks.hpp>
#include <tuner/backend/cuda/run/cuda_module.hpp>
#include <tuner/backend/cuda/run/stream_timer.hpp>
#include <tuner/backend/cuda/run/support_kernels.hpp>
#include <tuner/backend/cuda/run/tensor_map.hpp>
#include <tuner/backend/element_value.hpp>
#include <tuner/backend/gpu.hpp>
#include <tuner/core/values/threads.hpp>

namespace tuner {
namespace {

using namespace cuda;

std::string place(std::size_t launch, std::size_t launches) {
  return launches == 1 ? std::string() : " in launch " + std::to_string(launch + 1) + " of " + std::to_string(launches);
}

/// tuner's own kernels that are compiled on other threads before they are needed. NVRTC compiles one program at a time,
/// so compiles begin in the order in which the kernels are needed.
struct CompiledAhead {
  std::future<CompileResult> data, sampling, ceilings, peaks;

  static CompiledAhead begin(PreloadedKernels preloaded, int device) {
    CompiledAhead ahead;
    if (preloaded == PreloadedKernels::none) return ahead;
    const std::string architecture = architecture_name(query_device(device).limits.compute_capability);
    const auto compile = [&](CompileRequest (*request)(const std::string&)) {
      return std::async(
          std::launch::async,
          [](const CompileRequest& original) { return compile_support(*make_nvrtc_compiler(nvrtc()), original); },
          request(architecture));
    };
    if (preloaded == PreloadedKernels::trials) ahead.data = compile(DataKernels::request);
    if (preloaded == PreloadedKernels::ceilings) ahead.ceilings = compile(ceilings_request);
    ahead.sampling = compile(StreamTimer::request);
    if (preloaded == PreloadedKernels::ceilings) ahead.peaks = compile(peaks_request);
    return ahead;
  }
};

class CudaBackend final : public Backend {
 public:
  CudaBackend(Context context, Device device, CompiledAhead ahead, bool line_info)
      : state_(std::make_shared<BackendState>(std::move(context), std::move(device))),
        ahead_(std::move(ahead)),
        line_info_(line_info) {
    const ContextGuard guard(state_->context.handle());
    stream_ = make_stream();
    transfers_ = make_stream();
    filled_ = make_event(CU_EVENT_DISABLE_TIMING);
  }

  ~CudaBackend() override {
    const bool freed = state_->free_in_context([this] {
      counters_.reset();
      result_.reset();
      timer_.reset();
      data_.reset();
      filled_.reset();
      transfers_.reset();
      stream_.reset();
    });
    if (!freed) drop_handles();
  }

  const Device& device() const override { return state_->device; }
  std::string architecture() const override { return architecture_name(device().limits.compute_capability); }
  bool usable() const override { return state_->usable; }

  Compiler& compiler() override {
    compiler_made_.run([this] { compiler_ = make_lazy_nvrtc_compiler({.line_info = line_info_}); });
    return *compiler_;
  }

  std::variant<std::unique_ptr<Module>, LaunchError> load(const Image& image) override {
    const ContextGuard guard = enter();
    try {
      return std::make_unique<CudaModule>(state_, image);
    } catch (const CudaError& error) {
      if (is_sticky(error.result())) state_->usable = false;
      return LaunchError{.message = "the image does not load: " + error_text(error.result()), .code = error.code()};
    }
  }

  std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) override {
    const ContextGuard guard = enter();
    CUdeviceptr address = 0;
    const CUresult result = driver().cuMemAlloc(&address, bytes == 0 ? 1 : bytes);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
      std::size_t free = 0, total = 0;
      check(driver().cuMemGetInfo(&free, &total), "cuMemGetInfo");
      throw Error(ErrorCode::out_of_memory, "no room for " + std::to_string(bytes) + " bytes on " + device().name +
                                                ": " + std::to_string(free) + " of " + std::to_string(total) +
                                                " are free");
    }
    watch(result, "cuMemAlloc");
    return std::make_unique<CudaMemory>(state_, address, bytes);
  }

  std::unique_ptr<DeviceArray> allocate_array(const ArrayShape& shape) override {
    require_elements(shape);
    const ContextGuard guard = enter();
    return std::make_unique<CudaArray>(state_, shape);
  }

  TensorMap tensor_map(const TensorMapShape& shape, DevicePointer address) override {
    const ContextGuard guard = enter();
    return encode_tensor_map(shape, address);
  }

  void move_tensor_map(TensorMap& map, const TensorMapShape& shape, DevicePointer address) override {
    cuda::move_tensor_map(map, shape, address);
  }

  void upload(DevicePointer to, const void* from, std::size_t bytes) override {
    transfer(bytes, "cuMemcpyHtoDAsync", [&](CUstream on) { return driver().cuMemcpyHtoDAsync(to, from, bytes, on); });
  }

  void download(void* to, DevicePointer from, std::size_t bytes) override {
    transfer(bytes, "cuMemcpyDtoHAsync", [&](CUstream on) { return driver().cuMemcpyDtoHAsync(to, from, bytes, on); });
  }

  void fill_bytes(DevicePointer to, unsigned char value, std::size_t bytes) override {
    if (bytes == 0) return;
    const ContextGuard guard = enter();
    const std::lock_guard lock(mutex_);
    watch(driver().cuMemsetD8Async(to, value, bytes, stream_.get()), "cuMemsetD8Async");
    watch(driver().cuEventRecord(filled_.get(), stream_.get()), "cuEventRecord");
  }

  void fill(DevicePointer to, ElementType type, std::size_t count, const Fill& fill, std::uint64_t seed) override {
    if (count == 0) return;
    const ContextGuard guard = enter();
    const std::lock_guard lock(mutex_);
    data().fill(to, type, count, fill, seed);
    watch(driver().cuEventRecord(filled_.get(), stream_.get()), "cuEventRecord");
  }

  Comparison compare(DevicePointer actual, DevicePointer expected, ElementType type, std::size_t count,
                     const Tolerance& tolerance) override {
    Comparison comparison;
    if (count == 0) return comparison;
    const ContextGuard guard = enter();
    const std::lock_guard lock(mutex_);
    data().compare(actual, expected, type, count, tolerance, result());
    const auto found = downloaded<DataKernels::RawComparison>(result());
    comparison.mismatches = found.mismatches;
    comparison.largest_error = std::bit_cast<double>(found.largest_error_bits);
    comparison.off = found.off;
    comparison.less = found.less;
    comparison.nearer = found.nearer;
    if (found.mismatches == 0) return comparison;
    const auto parts = static_cast<std::uint64_t>(info(type).parts);
    comparison.first_index = ~found.inverted_first / parts;
    const int part = static_cast<int>(~found.inverted_first % parts);
    comparison.actual = element(actual, type, comparison.first_index, part);
    comparison.expected = element(expected, type, comparison.first_index, part);
    return comparison;
  }

  std::uint64_t fingerprint(DevicePointer from, std::size_t bytes) override {
    if (bytes == 0) return 0;
    const ContextGuard guard = enter();
    const std::lock_guard lock(mutex_);
    data().fingerprint(from, bytes, result());
    return downloaded<std::uint64_t>(result());
  }

  std::optional<Outcome> run(std::span<const Launch> launches, double timeout_s) override {
    if (!usable()) return Outcome(lost());
    const ContextGuard guard(state_->context.handle());
    const std::lock_guard lock(mutex_);
    std::vector<PreparedLaunch> prepared;
    if (std::optional<LaunchError> error = prepare(launches, prepared)) return Outcome(*error);
    if (std::optional<LaunchError> error = pending_.make_room_for(launches)) return Outcome(*error);
    return run_prepared(launches, prepared, timeout_s, deadline_after(timeout_s));
  }

  SampleResult sample(std::span<const Launch> launches, const SampleRequest& request) override {
    if (!usable()) return lost();
    if (request.cold() && request.batch > 1) throw Error("a cold sample is a single run: use batch = 1");
    if (!request.prepare.empty() && request.batch > 1)
      throw Error("a sample that is prepared is a single run: use batch = 1");
    const ContextGuard guard(state_->context.handle());
    const std::scoped_lock lock(counting_, mutex_);
    const Deadline deadline = deadline_after(request.timeout_s);
    std::vector<PreparedLaunch> before, prepared;
    if (std::optional<LaunchError> error = prepare(request.prepare, before)) return *error;
    if (std::optional<LaunchError> error = prepare(launches, prepared)) return *error;
    if (std::optional<LaunchError> error = pending_.make_room_for(launches)) return *error;
    StreamTimer& timer = made_timer();
    if (counters_ != nullptr) counters_->rest();
    // The timer needs work that was done before: the first time may wait for the device, which is held. The launches'
    // first run needs what the preparing ones make.
    if (!request.refills.empty()) {
      CUresult result = timer.refill(request.refills);
      if (result == CUDA_SUCCESS) result = wait_for(stream_.get(), std::nullopt);
      if (result != CUDA_SUCCESS) return faulted(result);
    }
    if (!all_have_run(request.prepare) || !all_have_run(launches)) {
      std::optional<Outcome> failure = run_prepared(request.prepare, before, request.timeout_s, deadline);
      if (!failure) failure = run_prepared(launches, prepared, request.timeout_s, deadline);
      if (failure) {
        if (Timeout* timeout = std::get_if<Timeout>(&*failure)) return std::move(*timeout);
        return std::get<LaunchError>(std::move(*failure));
      }
    }
    std::vector<Sample> samples;
    samples.reserve(request.samples);
    if (std::optional<SamplingFailure> failure = timer.sample(prepared, request, deadline, samples, before)) {
      if (failure->result == CUDA_ERROR_NOT_READY) return hung(request.timeout_s);
      return failure->launching ? refused(failure->result, "") : faulted(failure->result);
    }
    return samples;
  }

  CountResult collect(std::span<const Launch> launches, const CountRequest& request) override {
    if (!usable()) return Unavailable{lost().message};
    const ContextGuard guard(state_->context.handle());
    const std::lock_guard counting(counting_);
    std::vector<PreparedLaunch> prepared;
    if (const std::optional<LaunchError> error = prepare(launches, prepared)) return Unavailable{error->message};
    if (counters_ == nullptr) {
      auto opened = open_counters(state_->context.handle(), device().index);
      if (auto* const why = std::get_if<Unavailable>(&opened)) return std::move(*why);
      counters_ = std::get<std::unique_ptr<Counters>>(std::move(opened));
    }
    CountedWork work;
    work.launches = launches.size();
    work.before = [&] {
      if (request.restore) request.restore();
      const std::lock_guard lock(mutex_);
      if (request.cold) made_timer().flush();
      wait(stream_.get());
    };
    work.run = [&]() -> std::optional<Unavailable> {
      const std::lock_guard lock(mutex_);
      if (const std::optional<LaunchError> error = pending_.make_room_for(launches)) return Unavailable{error->message};
      const std::optional<Outcome> failure = run_prepared(launches, prepared, 0, deadline_after(0));
      if (!failure) return std::nullopt;
      return Unavailable{"the kernel failed while it was counted: " + std::string(message(*failure))};
    };
    CountResult result = counters_->collect(request.metrics, work);
    if (state_->context.is_callers()) counters_->rest();  // the caller's own launches follow
    return result;
  }

  EnergyResult energy(std::span<const Launch> launches, double seconds) override {
    if (!usable()) return Unavailable{lost().message};
    const ContextGuard guard(state_->context.handle());
    const std::scoped_lock lock(counting_, mutex_);
    std::vector<PreparedLaunch> prepared;
    if (const std::optional<LaunchError> error = prepare(launches, prepared)) return Unavailable{error->message};
    if (!energy_sensor_) {
      auto opened = open_energy_sensor(pci_address(state_->context.device()));
      if (auto* const why = std::get_if<Unavailable>(&opened)) return std::move(*why);
      energy_sensor_ = std::get<EnergySensor>(std::move(opened));
    }
    if (const std::optional<LaunchError> error = pending_.make_room_for(launches)) return Unavailable{error->message};
    if (counters_ != nullptr) counters_->rest();
    EnergyResult result = measure_energy(energy_sensor_, prepared, stream_.get(), seconds);
    if (is_sticky(driver().cuStreamQuery(stream_.get()))) state_->usable = false;
    return result;
  }

  void allow_device_launches(std::int64_t pending) override {
    const ContextGuard guard = enter();
    pending_.allow(pending);
  }

  void enqueue(const Module& module, std::size_t function, const LaunchShape& shape, void* const* parameters,
               void* stream) override {
    const CUfunction handle = static_cast<const CudaModule&>(module).entry(function).kernel.handle;
    watch(launch_kernel(handle, shape, const_cast<void**>(parameters), static_cast<CUstream>(stream)),
          shape.has_attributes() ? "cuLaunchKernelEx"
          : shape.cooperative    ? "cuLaunchCooperativeKernel"
                                 : "cuLaunchKernel");
  }

  std::unique_ptr<Stopwatch> stopwatch() override { return std::make_unique<EventStopwatch>(state_); }

  void synchronize(void* stream) override {
    const ContextGuard guard(state_->context.handle());
    watch(driver().cuStreamSynchronize(static_cast<CUstream>(stream)), "cuStreamSynchronize");
  }

  void fetch(void* to, DevicePointer from, std::size_t bytes, void* stream) override {
    auto* const handle = static_cast<CUstream>(stream);
    const CUresult begun = driver().cuMemcpyDtoHAsync(to, from, bytes, handle);
    const bool waits = begun == CUDA_SUCCESS;
    watch(waits ? driver().cuStreamSynchronize(handle) : begun, waits ? "cuStreamSynchronize" : "cuMemcpyDtoHAsync");
  }

  void fill_on(DevicePointer to, unsigned char value, std::size_t bytes, void* stream) override {
    watch(driver().cuMemsetD8Async(to, value, bytes, static_cast<CUstream>(stream)), "cuMemsetD8Async");
  }

  std::shared_ptr<void> beside_captures() override {
    return std::make_shared<BesideCaptures>(
        ContextName{state_->id, reinterpret_cast<std::uintptr_t>(state_->context.handle())});
  }
  void abandon() noexcept override { state_->usable = false; }

  void measure_ceilings() override {
    if (device().ceilings.read > 0) return;
    state_->device.ceilings =
        cuda::measure_ceilings(*this, compiled(ahead_.ceilings, ceilings_request(architecture())));
    state_->device.peaks = measure_peaks(*this, compiled(ahead_.peaks, peaks_request(architecture())));
  }

 private:
  /// For all functions except run() and sample(), whose failures are values.
  ContextGuard enter() const {
    if (!usable()) throw Error(ErrorCode::context_lost, lost().message);
    return ContextGuard(state_->context.handle());
  }

  LaunchError lost() const {
    return LaunchError{"the context of " + device().name + " was lost to an earlier fault; start a new process"};
  }

  void watch(CUresult result, const char* call, SourcePlace at = SourcePlace::current()) {
    state_->watch(result, call, at);
  }
  void wait(CUstream stream, SourcePlace at = SourcePlace::current()) {
    watch(wait_for(stream, std::nullopt), "cuStreamQuery", at);
  }

  /// Calls \p copy, which enqueues a copy. Waits for it, and before it for fills: they are the only functions that
  /// return before their work is done.
  template <typename Copy>
  void transfer(std::size_t bytes, const char* call, const Copy& copy) {
    if (bytes == 0) return;
    const ContextGuard guard = enter();
    watch(driver().cuStreamWaitEvent(transfers_.get(), filled_.get(), 0), "cuStreamWaitEvent");
    watch(copy(transfers_.get()), call);
    wait(transfers_.get());
  }

  CompileResult compiled(std::future<CompileResult>& ahead, const CompileRequest& request) {
    return ahead.valid() ? ahead.get() : compile_support(compiler(), request);
  }

  DataKernels& data() {
    if (data_ == nullptr) {
      data_ = std::make_unique<DataKernels>(compiled(ahead_.data, DataKernels::request(architecture())), stream_.get(),
                                            device().limits.sm_count);
    }
    return *data_;
  }

  StreamTimer& made_timer() {
    if (timer_ == nullptr) {
      timer_ = std::make_unique<StreamTimer>(compiled(ahead_.sampling, StreamTimer::request(architecture())),
                                             stream_.get(), device().key.l2_bytes, device().limits.sm_count);
    }
    return *timer_;
  }

  /// Memory for the answers of compare and fingerprint; see downloaded().
  DevicePointer result() {
    if (result_ == nullptr) result_ = allocate(sizeof(DataKernels::RawComparison));
    return result_->address();
  }

  template <typename T>
  T downloaded(DevicePointer from) {
    wait(stream_.get());
    T value{};
    download(&value, from, sizeof value);
    return value;
  }

  double element(DevicePointer data, ElementType type, std::uint64_t index, int part) {
    return with_type(type, [&](auto value) {
      download(&value, data + index * sizeof value, sizeof value);
      return static_cast<double>(number(value, part));
    });
  }

  static const CudaModule::Entry& entry_of(const Launch& launch) {
    return dynamic_cast<const CudaModule&>(*launch.module).entry(launch.function);
  }

  std::optional<LaunchError> prepare(std::span<const Launch> launches, std::vector<PreparedLaunch>& prepared) {
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const Launch& launch = launches[i];
      const CudaModule::Entry& entry = entry_of(launch);
      if (std::optional<std::string> why = why_not_launchable(entry.kernel, launch.shape, device().limits))
        return LaunchError{*why + place(i, launches.size())};
      if (const auto sizes =
              entry.has_run ? std::nullopt : parameter_sizes(entry.kernel.handle, launch.arguments.size()))
        if (auto wrong = wrong_sizes(entry.expression, launch.arguments, *sizes)) return LaunchError{std::move(*wrong)};
      PreparedLaunch& ready = prepared.emplace_back();
      ready.function = entry.kernel.handle;
      ready.shape = launch.shape;
      for (const Argument& argument : launch.arguments) {
        ready.arguments.push_back(const_cast<std::byte*>(argument.data()));  // the driver only reads it
      }
    }
    return std::nullopt;
  }

  std::optional<Outcome> run_prepared(std::span<const Launch> launches, std::span<PreparedLaunch> prepared,
                                      double timeout_s, const Deadline& deadline) {
    for (std::size_t i = 0; i < prepared.size(); ++i) {
      if (const CUresult result = prepared[i](stream_.get()); result != CUDA_SUCCESS)
        return Outcome(refused(result, place(i, prepared.size())));
    }
    const CUresult result = wait_for(stream_.get(), deadline);
    if (result == CUDA_ERROR_NOT_READY) return Outcome(hung(timeout_s));
    if (result != CUDA_SUCCESS) return Outcome(faulted(result));
    for (const Launch& launch : launches) entry_of(launch).has_run = true;
    return std::nullopt;
  }

  static bool all_have_run(std::span<const Launch> launches) {
    return std::all_of(launches.begin(), launches.end(), [](const Launch& launch) { return entry_of(launch).has_run; });
  }

  LaunchError refused(CUresult result, const std::string& where) {
    if (is_sticky(result)) return faulted(result);
    return LaunchError{"the launch was refused" + where + ": " + error_text(result)};
  }
  LaunchError faulted(CUresult result) {
    state_->usable = false;
    return LaunchError{"the kernel faulted: " + error_text(result)};
  }
  Timeout hung(double timeout_s) {
    state_->usable = false;
    return Timeout{"still running after " + std::to_string(timeout_s) +
                   " s; a kernel cannot be stopped, its process must end"};
  }

  void drop_handles() noexcept {
    if (counters_ != nullptr) counters_->leak();
    if (timer_ != nullptr) timer_->leak();
    if (data_ != nullptr) data_->leak();
    (void)filled_.release();
    (void)transfers_.release();
    (void)stream_.release();
  }

  SharedState state_;
  Once compiler_made_;
  std::unique_ptr<Compiler> compiler_;
  CompiledAhead ahead_;
  bool line_info_;
  std::mutex counting_;  // protects counters_; taken before mutex_
  std::mutex mutex_;     // protects stream_ and its work; transfers have their own stream
  UniqueStream stream_;
  UniqueStream transfers_;
  UniqueEvent filled_;  // after the latest fill on stream_
  std::unique_ptr<DataKernels> data_;
  std::unique_ptr<StreamTimer> timer_;
  std::unique_ptr<DeviceMemory> result_;
  std::unique_ptr<Counters> counters_;
  EnergySensor energy_sensor_;
  PendingLaunches pending_{*state_};  // make_room_for() needs mutex_
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(CudaOptions options) {
  (void)driver();  // throws an Error that says what is missing
  CompiledAhead ahead = CompiledAhead::begin(options.preloaded, options.device);
  Context context = options.use_current_context ? Context::current() : Context::primary(options.device);
  const int ordinal = options.use_current_context ? current_ordinal() : options.device;
  return std::make_unique<CudaBackend>(std::move(context),
                                       query_device(ordinal, /*compiler=*/!options.use_current_context),
                                       std::move(ahead), options.line_info);
}

}  // namespace tuner
