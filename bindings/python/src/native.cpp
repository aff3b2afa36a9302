// The module tuner.lib._native: the functions of tuner.h with Python's numbers, texts and exceptions. It knows no
// array: an argument is a tuple ("pointer", address, type, is_const), a float or an int. Python's side makes them
// (tuner/_arrays.py). All calls release the interpreter's lock.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <tuner/tuner.h>

namespace nb = nanobind;

namespace {

PyObject* error_type = nullptr;
/// A function of Python that takes an array and its GPU, and throws tuner.Error unless that is current. Null: there is
/// only one GPU.
PyObject* gpu_watch = nullptr;

/// Throws tuner.Error(message, status) for a call that failed.
void check(tuner_status status) {
  if (status == TUNER_OK) return;
  const nb::tuple arguments = nb::make_tuple(tuner_last_error(), tuner_status_name(status));
  PyErr_SetObject(error_type, arguments.ptr());
  throw nb::python_error();
}

/// Makes a call without the interpreter's lock.
template <typename Call>
void unlocked(const Call& call) {
  tuner_status status = TUNER_OK;
  {
    const nb::gil_scoped_release released;
    status = call();
  }
  check(status);
}

/// The text that a call makes.
template <typename Call>
std::string text_of(const Call& call) {
  char* text = nullptr;
  unlocked([&] { return call(&text); });
  std::string copy = text;
  tuner_text_free(text);
  return copy;
}

/// The number of changes that a call counts.
template <typename Call>
std::int64_t changes_of(const Call& call) {
  std::int64_t changed = 0;
  unlocked([&] { return call(&changed); });
  return changed;
}

tuner_stream stream_of(std::uintptr_t handle) { return reinterpret_cast<tuner_stream>(handle); }
void* memory_at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }
/// \p text for C, where it would end at a character 0.
const char* c_text(const std::string& text) {
  if (text.find('\0') != std::string::npos) throw nb::value_error("a text has a character 0, where it would end");
  return text.c_str();
}

const char* or_null(const std::string& text) { return text.empty() ? nullptr : c_text(text); }

/// TUNER_VOID for types that tuner does not know.
int type_of(nb::dlpack::dtype type) {
  constexpr int kE4m3fn = 10, kE5m2 = 12, kE8m0fnu = 14, kE2m1fn = 17;  // codes of DLPack 1.1
  if (type.code == kE2m1fn && type.bits == 4 && type.lanes == 2) return TUNER_E2M1X2;
  const int width = type.bits == 8 ? 0 : type.bits == 16 ? 2 : type.bits == 32 ? 4 : type.bits == 64 ? 6 : -1;
  if (type.lanes != 1 || width < 0) return TUNER_VOID;
  if (width == 0 && (type.code == kE4m3fn || type.code == kE5m2)) return type.code == kE5m2 ? TUNER_E5M2 : TUNER_E4M3;
  if (width == 0 && type.code == kE8m0fnu) return TUNER_E8M0;
  switch (static_cast<nb::dlpack::dtype_code>(type.code)) {
    case nb::dlpack::dtype_code::Int:
      return width;
    case nb::dlpack::dtype_code::UInt:
      return width + 1;
    case nb::dlpack::dtype_code::Float:
      return width == 2 ? TUNER_HALF : width == 4 ? TUNER_FLOAT : width == 6 ? TUNER_DOUBLE : TUNER_VOID;
    case nb::dlpack::dtype_code::Bfloat:
      return width == 2 ? TUNER_BFLOAT16 : TUNER_VOID;
    default:
      return TUNER_VOID;
  }
}

/// The number of elements of an array without gaps. Null strides: there are none.
std::int64_t count_of(std::size_t dimensions, const std::int64_t* shape, const std::int64_t* strides) {
  if (std::find(shape, shape + dimensions, 0) != shape + dimensions) return 0;
  std::int64_t count = 1;
  for (std::size_t i = dimensions; i-- > 0;) {
    if (shape[i] > 1 && strides != nullptr && strides[i] != count)
      throw nb::value_error("tuner needs arrays whose elements are contiguous: make a copy");
    count *= shape[i];
  }
  return count;
}

/// DLPack's exchange in C (`__dlpack_c_exchange_api__`), as far as it is used here: a library describes its arrays
/// without making an object of Python.
struct Exchange {
  std::uint32_t major, minor;
  const Exchange* older;
  void* managed[3];
  int (*tensor_of)(void* object, nb::dlpack::dltensor* tensor);
  int (*current_stream)(std::int32_t device_type, std::int32_t device, void** stream);
};

/// "torch", "cupy" or "jax", also for types that programs derive from those of the library; "" for other types.
std::string library_of(nb::handle type) {
  for (const nb::handle base : nb::getattr(type, "__mro__")) {
    const std::string module = nb::cast<std::string>(nb::str(nb::getattr(base, "__module__", nb::none())));
    const std::string library = module.substr(0, module.find('.'));
    if (library == "torch" || library == "cupy") return library;
    if (library == "jax" || library == "jaxlib") return "jax";
  }
  return {};
}

/// Null for types without it, and for other libraries than PyTorch and CuPy: JAX computes on its own streams. Asks a
/// type once for many calls with arrays of the same two types, as of a parameter and of a result.
const Exchange* exchange_of(nb::handle array) {
  struct Known {
    nb::handle type;
    const Exchange* exchange = nullptr;
  };
  static Known last, before_last;
  const nb::handle type = array.type();
  for (const Known& known : {last, before_last})
    if (type.is(known.type)) return known.exchange;
  const nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  const std::string library = library_of(type);
  auto found = static_cast<const Exchange*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  if (found == nullptr) PyErr_Clear();
  if (found != nullptr &&
      (found->major != 1 || found->tensor_of == nullptr || (library != "torch" && library != "cupy")))
    found = nullptr;
  const nb::object forgotten = nb::steal(before_last.type);
  before_last = last;
  last = {type.inc_ref(), found};
  return found;
}

/// Throws the exception of a library that failed to describe an array.
[[noreturn]] void fail_exchange() {
  if (PyErr_Occurred() == nullptr)
    PyErr_SetString(PyExc_RuntimeError,
                    "tuner: the array's library could not describe the array by DLPack, and gave no reason");
  throw nb::python_error();
}

/// An array of a library with that exchange.
struct Exchanged {
  static std::optional<Exchanged> of(nb::handle array) {
    Exchanged made{array, exchange_of(array), {}};
    if (made.library == nullptr) return std::nullopt;
    if (made.library->tensor_of(array.ptr(), &made.tensor) != 0) fail_exchange();
    return made;
  }
  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset; }
  tuner_type type() const { return static_cast<tuner_type>(type_of(tensor.dtype)); }
  std::int64_t count() const { return count_of(static_cast<std::size_t>(tensor.ndim), tensor.shape, tensor.strides); }
  /// The library's current stream; the default one for arrays of the host. Throws tuner.Error if another GPU is
  /// current.
  std::uintptr_t stream() const {
    if (tensor.device.device_type != nb::device::cuda::value) return 0;
    if (gpu_watch != nullptr) nb::borrow(gpu_watch)(array, tensor.device.device_id);
    void* stream = nullptr;
    if (library->current_stream(tensor.device.device_type, tensor.device.device_id, &stream) != 0) fail_exchange();
    return reinterpret_cast<std::uintptr_t>(stream);
  }
  /// `cuda:1`
  std::string device() const {
    const std::string id = ':' + std::to_string(tensor.device.device_id);
    switch (tensor.device.device_type) {
      case nb::device::cuda::value:
      case nb::device::cuda_managed::value:
        return "cuda" + id;
      case nb::device::cpu::value:
      case nb::device::cuda_host::value:
        return "cpu";
      default:
        return "device type " + std::to_string(tensor.device.device_type) + id;
    }
  }

  nb::handle array;  // the caller keeps it alive
  const Exchange* library;
  nb::dlpack::dltensor tensor;
};

/// Address, type, count and is_const of anything with __dlpack__. The caller keeps it alive.
nb::tuple dlpack(nb::handle given) {
  if (const auto array = Exchanged::of(given))
    return nb::make_tuple(array->address(), static_cast<int>(array->type()), array->count(), false);
  const auto about = [](const auto& array, bool is_const) {
    return nb::make_tuple(reinterpret_cast<std::uintptr_t>(array.data()), type_of(array.dtype()),
                          count_of(array.ndim(), array.shape_ptr(), array.stride_ptr()), is_const);
  };
  nb::ndarray<> writable;
  if (nb::try_cast(given, writable)) return about(writable, false);
  return about(nb::cast<nb::ndarray<nb::ro>>(given), true);
}

tuner_argument argument_of(nb::handle given) {
  if (nb::isinstance<nb::tuple>(given)) {
    const auto [address, type, is_const] = nb::cast<std::tuple<std::uintptr_t, int, bool>>(given);
    return is_const ? tuner_input(static_cast<tuner_type>(type), memory_at(address))
                    : tuner_buffer(static_cast<tuner_type>(type), memory_at(address));
  }
  if (nb::isinstance<nb::bytes>(given)) {  // of a struct; the list of arguments keeps them
    const auto bytes = nb::cast<nb::bytes>(given);
    return tuner_struct(bytes.c_str(), bytes.size());
  }
  if (PyFloat_Check(given.ptr())) return tuner_real(nb::cast<double>(given));
  std::int64_t integer = 0;
  if (nb::try_cast(given, integer)) return tuner_signed(integer);
  std::uint64_t natural = 0;
  if (nb::try_cast(given, natural)) return tuner_unsigned(natural);
  throw std::overflow_error("an integer has more than 64 bits");
}

tuner_reduce_options reduce_options(int operation, int order, std::uintptr_t stream) {
  tuner_reduce_options options = TUNER_REDUCE_OPTIONS;
  options.operation = static_cast<tuner_operation>(operation);
  options.order = static_cast<tuner_order>(order);
  options.stream = stream_of(stream);
  return options;
}

using Numbers = std::vector<std::int64_t>;

/// Sizes and arguments, as long as a call uses them.
struct Call {
  Call(const Numbers& given_sizes, const nb::list& given, std::uintptr_t stream) : sizes(given_sizes) {
    for (const nb::handle one : given) arguments.push_back(argument_of(one));
    call.sizes = sizes.data();
    call.size_count = sizes.size();
    call.arguments = arguments.data();
    call.argument_count = arguments.size();
    call.stream = stream_of(stream);
  }
  Numbers sizes;
  std::vector<tuner_argument> arguments;
  tuner_call call = TUNER_CALL;
};

/// Passes trials on to a function of Python. It stops the tuning when the function returns False or raises, and when
/// Ctrl-C was pressed.
struct Trials {
  nb::object on_trial;
  std::optional<nb::python_error> raised;

  static int tell(std::size_t finished, double best_ns, void* user) {
    auto& trials = *static_cast<Trials*>(user);
    const nb::gil_scoped_acquire locked;
    if (trials.raised) return 1;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      return trials.on_trial.is_none() || !trials.on_trial(finished, best_ns).is(Py_False) ? 0 : 1;
    } catch (nb::python_error& error) {
      trials.raised.emplace(std::move(error));
      return 1;
    }
  }
};

std::string json_of(tuner_result* result) {
  std::string json = tuner_result_json(result);
  tuner_result_free(result);
  return json;
}

class Kernel {
 public:
  template <typename Make>
  static Kernel made(const Make& make) {
    Kernel kernel;
    unlocked([&] { return make(&kernel.kernel_); });
    return kernel;
  }
  Kernel(Kernel&& other) noexcept : kernel_(std::exchange(other.kernel_, nullptr)) {}
  ~Kernel() { tuner_kernel_free(kernel_); }

  static Kernel from_file(const std::string& name_or_path) {
    return made([&](tuner_kernel** to) { return tuner_kernel_from_file(c_text(name_or_path), to); });
  }
  static Kernel from_text(const std::string& text, const std::string& name) {
    return made([&](tuner_kernel** to) { return tuner_kernel_from_text(c_text(text), c_text(name), to); });
  }
  Kernel with(const std::string& choices) const {
    return made([&](tuner_kernel** to) { return tuner_kernel_with(kernel_, c_text(choices), to); });
  }
  Kernel used_as(const std::string& use) const {
    return made([&](tuner_kernel** to) { return tuner_kernel_used_as(kernel_, c_text(use), to); });
  }
  std::string json() const {
    return text_of([&](char** text) { return tuner_kernel_json(kernel_, text); });
  }
  void launch(const Numbers& sizes, const nb::list& arguments, std::uintptr_t stream) const {
    const Call call(sizes, arguments, stream);
    unlocked([&] { return tuner_kernel_launch(kernel_, &call.call); });
  }
  void prepare(const Numbers& sizes, const nb::list& arguments, std::uintptr_t stream, std::size_t captures) const {
    const Call call(sizes, arguments, stream);
    unlocked([&] { return tuner_kernel_prepare(kernel_, &call.call, captures, nullptr); });
  }
  std::string explain(const Numbers& sizes, const std::string& choices) const {
    return text_of(
        [&](char** text) { return tuner_kernel_explain(kernel_, sizes.data(), sizes.size(), c_text(choices), text); });
  }
  Numbers elements(const Numbers& sizes, const std::string& choices) const {
    Numbers counts(32);
    const auto fill = [&] {
      std::size_t needed = 0;
      unlocked([&] {
        return tuner_kernel_elements(kernel_, sizes.data(), sizes.size(), c_text(choices), counts.data(), counts.size(),
                                     &needed);
      });
      return needed;
    };
    const std::size_t needed = fill();
    const bool is_short = needed > counts.size();
    counts.resize(needed);
    if (is_short) fill();
    return counts;
  }
  std::string tune(const Numbers& sizes, const std::string& choices, double wall_time_s, std::size_t trials,
                   const std::string& strategy, std::uint64_t seed, bool force, bool isolated, bool check_on_host,
                   const std::string& metrics, const std::string& use, const std::string& effort,
                   nb::object on_trial) const {
    tuner_tune_options options = options_of(wall_time_s, trials, seed, force, isolated, use, effort);
    options.strategy = or_null(strategy);
    options.check_on_host = check_on_host;
    options.metrics = or_null(metrics);
    tuner_result* result = nullptr;
    run_with_callback(
        std::move(on_trial), options,
        [&] { return tuner_kernel_tune(kernel_, sizes.data(), sizes.size(), c_text(choices), &options, &result); },
        [&] { tuner_result_free(result); });
    return json_of(result);
  }
  std::string tune_together(const std::vector<Numbers>& sizes, const std::string& choices, double wall_time_s,
                            std::size_t trials, std::uint64_t seed, bool force, bool isolated, const std::string& use,
                            const std::string& effort, nb::object on_trial) const {
    Numbers all;
    for (const Numbers& one : sizes) {
      if (one.size() != sizes.front().size()) throw nb::value_error("all problems have as many sizes");
      all.insert(all.end(), one.begin(), one.end());
    }
    tuner_tune_options options = options_of(wall_time_s, trials, seed, force, isolated, use, effort);
    char* json = nullptr;
    run_with_callback(
        std::move(on_trial), options,
        [&] {
          return tuner_kernel_tune_together(kernel_, all.data(), sizes.empty() ? 0 : sizes.front().size(), sizes.size(),
                                            c_text(choices), &options, &json);
        },
        [&] { tuner_text_free(json); });
    std::string text = json;
    tuner_text_free(json);
    return text;
  }
  std::string run(const Numbers& sizes, const std::string& choices, const std::string& configuration, bool verify,
                  const std::string& metrics, const std::string& use) const {
    tuner_run_options options = TUNER_RUN_OPTIONS;
    options.configuration = or_null(configuration);
    options.without_verification = !verify;
    options.metrics = or_null(metrics);
    options.use = c_text(use);
    tuner_result* result = nullptr;
    unlocked([&] { return tuner_kernel_run(kernel_, sizes.data(), sizes.size(), c_text(choices), &options, &result); });
    return json_of(result);
  }

 private:
  Kernel() = default;

  /// The texts must outlive the options.
  static tuner_tune_options options_of(double wall_time_s, std::size_t trials, std::uint64_t seed, bool force,
                                       bool isolated, const std::string& use, const std::string& effort) {
    tuner_tune_options options = TUNER_TUNE_OPTIONS;
    options.wall_time_s = wall_time_s;
    options.trials = trials;
    options.seed = seed;
    options.force = force;
    options.isolated = isolated;
    options.use = c_text(use);
    options.effort = or_null(effort);
    return options;
  }

  /// Runs \p tune without the interpreter's lock, with \p on_trial in \p options. Throws what that raised, after \p
  /// release.
  template <typename Tune, typename Release>
  static void run_with_callback(nb::object on_trial, tuner_tune_options& options, const Tune& tune,
                                const Release& release) {
    Trials trials{std::move(on_trial), {}};
    options.on_trial = Trials::tell;
    options.user = &trials;
    tuner_status status = TUNER_OK;
    {
      const nb::gil_scoped_release released;
      status = tune();
    }
    if (trials.raised) {
      release();
      throw std::move(*trials.raised);
    }
    check(status);
  }

  tuner_kernel* kernel_ = nullptr;
};

/// Memory where kernels run.
class Array {
 public:
  explicit Array(std::size_t bytes) {
    unlocked([&] { return tuner_array_new(bytes, &array_); });
  }
  Array(Array&& other) noexcept : array_(std::exchange(other.array_, nullptr)) {}
  ~Array() {
    const nb::gil_scoped_release released;  // it waits for kernels, and these for functions of Python in their stream
    tuner_array_free(array_);
  }

  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(tuner_array_data(array_)); }
  void upload(std::uintptr_t from, std::size_t bytes) {
    unlocked([&] { return tuner_array_upload(array_, memory_at(from), bytes); });
  }
  void download(std::uintptr_t to, std::size_t bytes) const {
    unlocked([&] { return tuner_array_download(array_, memory_at(to), bytes); });
  }

 private:
  tuner_array* array_ = nullptr;
};

void reduce_async(std::uintptr_t out, int type, std::uintptr_t data, std::int64_t n, int operation, int order,
                  std::uintptr_t stream) {
  const tuner_reduce_options options = reduce_options(operation, order, stream);
  unlocked(
      [&] { return tuner_reduce_async(static_cast<tuner_type>(type), memory_at(data), n, memory_at(out), &options); });
}

/// Enqueues a reduction on the current stream of the arrays' library. Returns false, and does nothing, if they have no
/// exchange in C or do not fit each other.
bool reduce_exchanged(nb::handle x, nb::handle out, int operation, int order) {
  const auto from = Exchanged::of(x);
  const auto to = from ? Exchanged::of(out) : std::nullopt;
  if (!to || to->type() != tuner_reduce_result(from->type()) || to->type() == TUNER_VOID || to->count() < 1)
    return false;
  if (from->device() != to->device())
    throw nb::value_error(("x is on " + from->device() + ", but out is on " + to->device()).c_str());
  reduce_async(to->address(), from->type(), from->address(), from->count(), operation, order, from->stream());
  return true;
}

/// The bytes of the value.
nb::bytes reduce(int type, std::uintptr_t data, std::int64_t n, int operation, int order, std::uintptr_t stream) {
  const tuner_reduce_options options = reduce_options(operation, order, stream);
  const auto of_elements = static_cast<tuner_type>(type);
  const std::size_t bytes = tuner_type_bytes(tuner_reduce_result(of_elements));
  char value[8] = {};
  unlocked([&] { return tuner_reduce(of_elements, memory_at(data), n, &options, value, bytes); });
  return nb::bytes(value, bytes);
}

void prepare_reduce(int type, std::uintptr_t data, std::int64_t n, int operation, int order, std::uintptr_t stream,
                    std::size_t captures) {
  const tuner_reduce_options options = reduce_options(operation, order, stream);
  unlocked([&] {
    return tuner_reduce_prepare(static_cast<tuner_type>(type), memory_at(data), n, &options, captures, nullptr);
  });
}

std::vector<const char*> paths_of(const std::vector<std::string>& texts) {
  std::vector<const char*> paths;
  for (const std::string& text : texts) paths.push_back(c_text(text));
  return paths;
}

}  // namespace

NB_MODULE(_native, module) {
  error_type = PyErr_NewException("tuner.Error", PyExc_RuntimeError, nullptr);
  module.attr("Error") = nb::handle(error_type);

  module.def("version", &tuner_version);
  module.def("dlpack", &dlpack);
  module.def("type_bytes", [](int type) { return tuner_type_bytes(static_cast<tuner_type>(type)); });
  module.def("reduce_result",
             [](int type) { return static_cast<int>(tuner_reduce_result(static_cast<tuner_type>(type))); });
  module.def("reduce", &reduce);
  module.def("reduce_async", &reduce_async);
  module.def("reduce_exchanged", &reduce_exchanged);
  module.def("library_of", &library_of);
  module.def(
      "watch_gpus",
      [](nb::object watch) {
        const nb::object former = nb::steal(gpu_watch);
        gpu_watch = watch.is_none() ? nullptr : watch.release().ptr();
      },
      nb::arg().none());
  module.def("has_exchange", [](nb::handle array) { return exchange_of(array) != nullptr; });
  module.def("current_stream", [](nb::handle array) { return Exchanged::of(array).value().stream(); });
  module.def("prepare_reduce", &prepare_reduce);
  module.def("set",
             [](const std::string& name, const std::string& value) { check(tuner_set(c_text(name), c_text(value))); });
  module.def("trim", [] { unlocked([] { return tuner_trim(); }); });
  module.def("metrics", [] { return text_of(tuner_metrics_json); });
  module.def("possible_name", [](const std::string& name) {
    return text_of([&](char** possible) { return tuner_possible_name(c_text(name), possible); });
  });
  module.def("kernel_parameters", [](const std::string& text, const std::string& kernel) {
    return text_of([&](char** json) { return tuner_kernel_parameters(c_text(text), c_text(kernel), json); });
  });

  module.def("export_wisdom", [](const std::string& database, const std::string& kernel) {
    return text_of([&](char** text) { return tuner_wisdom_export(or_null(database), or_null(kernel), text); });
  });
  module.def("import_wisdom", [](const std::string& database, const std::string& text, const std::string& source) {
    return changes_of([&](std::int64_t* changed) {
      return tuner_wisdom_import(or_null(database), c_text(text), c_text(source), changed);
    });
  });
  module.def("merge_wisdom", [](const std::string& into, const std::vector<std::string>& databases) {
    const std::vector<const char*> paths = paths_of(databases);
    return changes_of(
        [&](std::int64_t* changed) { return tuner_wisdom_merge(c_text(into), paths.data(), paths.size(), changed); });
  });
  module.def("freeze_wisdom", [](const std::string& frozen, const std::vector<std::string>& databases) {
    const std::vector<const char*> paths = paths_of(databases);
    unlocked([&] { return tuner_wisdom_freeze(c_text(frozen), paths.data(), paths.size()); });
  });

  nb::class_<Array>(module, "Array")
      .def(nb::init<std::size_t>())
      .def("address", &Array::address)
      .def("upload", &Array::upload)
      .def("download", &Array::download);
  nb::class_<Kernel>(module, "Kernel")
      .def_static("from_file", &Kernel::from_file)
      .def_static("from_text", &Kernel::from_text)
      .def("with_choices", &Kernel::with)
      .def("used_as", &Kernel::used_as)
      .def("json", &Kernel::json)
      .def("launch", &Kernel::launch)
      .def("elements", &Kernel::elements)
      .def("prepare", &Kernel::prepare)
      .def("explain", &Kernel::explain)
      .def("tune", &Kernel::tune, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
           nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none())
      .def("tune_together", &Kernel::tune_together, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
           nb::arg(), nb::arg(), nb::arg(), nb::arg().none())
      .def("run", &Kernel::run);
}
