#include <tuner/backend/cuda/nvrtc_compiler.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include <tuner/backend/cuda/architecture.hpp>
#include <tuner/backend/cuda/device_headers.hpp>
#include <tuner/backend/cuda/device_linker.hpp>
#include <tuner/backend/cuda/driver.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/core/includes.hpp>
#include <tuner/core/host_functions.hpp>
#include <tuner/core/passing.hpp>
#include <tuner/core/threads.hpp>

namespace tuner::cuda {
namespace {

class Program {
 public:
  Program(const Nvrtc& nvrtc, const std::string& source, const std::string& name, const DeviceHeaders& headers)
      : nvrtc_(nvrtc) {
    std::vector<const char*> names, texts;
    for (const std::string& header : headers.names) names.push_back(header.c_str());
    for (const std::string& text : headers.texts) texts.push_back(text.c_str());
    require(nvrtc.nvrtcCreateProgram(&program_, source.c_str(), name.c_str(), static_cast<int>(names.size()),
                                     texts.data(), names.data()),
            "nvrtcCreateProgram");
  }
  ~Program() { nvrtc_.nvrtcDestroyProgram(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void add(const std::string& expression) {
    require(nvrtc_.nvrtcAddNameExpression(program_, expression.c_str()), "nvrtcAddNameExpression");
  }

  nvrtcResult compile(const std::vector<std::string>& options) {
    std::vector<const char*> raw;
    for (const std::string& option : options) raw.push_back(option.c_str());
    return nvrtc_.nvrtcCompileProgram(program_, static_cast<int>(raw.size()), raw.data());
  }

  std::string log() { return text(nvrtc_.nvrtcGetProgramLogSize, nvrtc_.nvrtcGetProgramLog, "nvrtcGetProgramLog"); }
  std::string ptx() { return text(nvrtc_.nvrtcGetPTXSize, nvrtc_.nvrtcGetPTX, "nvrtcGetPTX"); }

  std::vector<std::byte> cubin() {
    std::size_t size = 0;
    require(nvrtc_.nvrtcGetCUBINSize(program_, &size), "nvrtcGetCUBINSize");
    std::vector<std::byte> code(size);
    require(nvrtc_.nvrtcGetCUBIN(program_, reinterpret_cast<char*>(code.data())), "nvrtcGetCUBIN");
    return code;
  }

  /// nullopt if \p expression names nothing.
  std::optional<std::string> symbol(const std::string& expression) {
    const char* lowered = nullptr;
    if (nvrtc_.nvrtcGetLoweredName(program_, expression.c_str(), &lowered) != NVRTC_SUCCESS) return std::nullopt;
    return lowered;
  }

 private:
  /// The answer of \p get, called \p call, without zeros at its end.
  template <typename Size, typename Get>
  std::string text(Size size_of, Get get, const char* call) {
    std::size_t size = 0;
    require(size_of(program_, &size), call);
    std::string text(size, '\0');
    if (size > 0) require(get(program_, text.data()), call);
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }
  void require(nvrtcResult result, const char* call) {
    if (result != NVRTC_SUCCESS) throw NvrtcError(std::string(call) + " failed: " + nvrtc_.nvrtcGetErrorString(result));
  }

  const Nvrtc& nvrtc_;
  nvrtcProgram program_ = nullptr;
};

/// Puts the macros before the text. Given as options, they would also be replaced in NVRTC's own headers, which it
/// reads first.
std::string with_macros(const std::string& source, const std::string& name, const std::vector<std::string>& macros) {
  if (macros.empty()) return source;
  std::string text;
  for (std::string macro : macros) {
    std::replace(macro.begin(), macro.begin() + static_cast<std::ptrdiff_t>(macro.find('=') + 1), '=', ' ');
    text += "#define " + macro + '\n';
  }
  return text + line_directive(1, name) + source;
}

/// With a zero byte at the end, which marks the end of PTX for the driver.
std::vector<std::byte> bytes_of(const std::string& ptx) {
  std::vector<std::byte> bytes(ptx.size() + 1);
  std::memcpy(bytes.data(), ptx.c_str(), bytes.size());
  return bytes;
}

/// Whether \p log complains about functions for the host.
bool tells_of_host_functions(const std::string& log) { return log.find("in JIT mode") != std::string::npos; }
bool tells_of_operators_of_cub(const std::string& log) {
  return log.find("\"cub\" has no member \"Sum\"") != std::string::npos ||
         log.find("\"cub\" has no member \"Max\"") != std::string::npos ||
         log.find("\"cub\" has no member \"Min\"") != std::string::npos;
}
bool tells_of_missing_names(const std::string& log) {
  const auto says = [&](const char* text) { return log.find(text) != std::string::npos; };
  return says("is undefined") || says("has no member") || says("__extension__") ||
         says("qualified name is not allowed") || says("is not a class or struct name") ||
         says("\"register\" storage class") || says("incomplete type") || says("more than one instance of overloaded");
}

/// Like g++, nvcc accepts `{.x = 1}` in C++17; NVRTC does not.
bool tells_of_later_language(const std::string& log) { return log.find("expected an expression") != std::string::npos; }

/// \p message after the place in the kernel file of the option that it names, if there is one.
std::string with_origin(const std::vector<CompileOption>& options, std::string message) {
  const auto named = [&](const CompileOption& option) {
    return message.find('-' + std::string(option_name(option.text))) != std::string::npos;
  };
  const auto at = std::find_if(options.begin(), options.end(), named);
  const std::string place = at == options.end() ? std::string() : at->origin.text();
  return place.empty() ? message : place + ": " + message;
}

constexpr const char* kLanguage = "--std=c++17";
constexpr const char* kLaterLanguage = "--std=c++20";

bool sets_language(const CompileRequest& request) {
  return std::any_of(request.options.begin(), request.options.end(),
                     [](const CompileOption& option) { return !language_in(option.text).empty(); });
}

class NvrtcCompiler : public Compiler {
 public:
  /// \p library: null for the process's NVRTC, which is then loaded for the first compile.
  NvrtcCompiler(const NvrtcFacts& facts, const Nvrtc* library, NvrtcOptions options) : library_(library) {
    fixed_.emplace_back("--ptxas-options=-v");                               // resources in the log
    if (facts.version >= 11080) fixed_.emplace_back("--diag-suppress=161");  // the warning about `#pragma tuner`
    // With a hit in the driver's compute cache, the log would not contain the resources.
    if (facts.version >= 12090) fixed_.emplace_back("--no-cache");
    if (options.line_info) fixed_.emplace_back("--generate-line-info");
    identity_ = "nvrtc " + version_text(facts.version) + ' ' + kLanguage;
    for (const std::string& option : fixed_) identity_ += ' ' + option;
    identity_ += "; headers " + device_headers_version();
    if (!facts.headers.empty()) identity_ += "; " + facts.headers;
  }

  std::string identity() const override { return identity_; }

  CompileResult compile(const CompileRequest& request) override {
    auto built = build(request);
    if (auto* const error = std::get_if<CompileError>(&built)) return std::move(*error);
    auto& [program, log] = std::get<Built>(built);
    CompileResult result = image(*program, request, log);
    Image* const compiled = std::get_if<Image>(&result);
    if (!request.device_launches || compiled == nullptr) return result;
    auto linked = std::get<DeviceLinker>(linker()).link(compiled->code, request.architecture, request.file_name);
    if (auto* const error = std::get_if<CompileError>(&linked)) return std::move(*error);
    compiled->code = std::get<std::vector<std::byte>>(std::move(linked));
    return result;
  }

  /// A program for a real architecture contains PTX beside the cubin.
  std::variant<std::string, CompileError> ptx(const CompileRequest& request) {
    auto built = build(request);
    if (auto* const error = std::get_if<CompileError>(&built)) return std::move(*error);
    return std::get<Built>(built).program->ptx();
  }

 private:
  struct Built {
    std::unique_ptr<Program> program;
    std::string log;
  };

  /// How a text has to be compiled.
  struct Form {
    bool without_host_functions = false;
    bool with_names_of_nvcc = false;     ///< headers/tuner_nvcc.h
    bool in_later_language = false;      ///< kLaterLanguage
    bool with_operators_of_cub = false;  ///< headers/tuner_cub.h
    bool without_types = false;          ///< also without types that name the host's library

    HostCode host_code() const {
      if (!without_host_functions) return HostCode::whole;
      return with_names_of_nvcc && !without_types ? HostCode::types : HostCode::nothing;
    }
    bool is_plain() const {
      return !without_host_functions && !with_names_of_nvcc && !in_later_language && !with_operators_of_cub;
    }
  };

  /// Compiles the whole text as it is. If that fails, compiles it in the form that the errors ask for.
  std::variant<Built, CompileError> build(const CompileRequest& asked) const {
    CompileRequest request = asked;
    if (!request.includes)  // the request came from another process
      request.includes = std::make_shared<const Includes>(includes_of(request));
    const std::size_t text = std::hash<std::string>{}(request.source);
    Form form = known_form(text);
    auto built = attempt(request, form);
    const auto failed = [&built](bool (*because)(const std::string&)) {
      const auto* const error = std::get_if<CompileError>(&built);
      return error != nullptr && because(error->log);
    };
    if (!form.without_host_functions && failed(&tells_of_host_functions)) {
      form.without_host_functions = true;
      built = attempt(request, form);
    }
    // The names come last: a text may define them in another way.
    if (!form.with_names_of_nvcc && failed(&tells_of_missing_names)) {
      Form wider = form;
      wider.with_names_of_nvcc = true;
      auto again = attempt(request, wider);
      const auto* error = std::get_if<CompileError>(&again);
      // The missing names hid errors in host functions, or are the host's own, such as std::string.
      if (error != nullptr && !wider.without_host_functions &&
          (tells_of_host_functions(error->log) || tells_of_missing_names(error->log))) {
        Form kernels = wider;
        kernels.without_host_functions = true;
        auto third = attempt(request, kernels);
        const auto* const rest = std::get_if<CompileError>(&third);
        if (rest == nullptr || tells_of_host_functions(error->log) || !tells_of_missing_names(rest->log))
          again = std::move(third), wider = kernels;
      }
      error = std::get_if<CompileError>(&again);
      if (error == nullptr) form = wider;
      // With all names there, what is left is more likely what is wrong.
      if (error == nullptr || !tells_of_missing_names(error->log)) built = std::move(again);
    }
    if (!sets_language(request) && failed(&tells_of_later_language)) {
      Form later = form;
      later.in_later_language = true;
      auto again = attempt(request, later);
      if (std::holds_alternative<Built>(again)) built = std::move(again), form = later;
    }
    if (std::holds_alternative<Built>(built) && !form.is_plain()) {
      const std::lock_guard lock(forms_mutex_);
      forms_[text] = form;
    }
    return built;
  }

  /// Compiles \p request in \p form. A type that names the host's library goes only if the text does not compile with
  /// it.
  std::variant<Built, CompileError> attempt(const CompileRequest& request, Form& form) const {
    if (form.host_code() == HostCode::types) {
      Form keeping = form;
      auto built = attempt_with_operators(request, keeping);
      if (std::holds_alternative<Built>(built)) {
        form = keeping;
        return built;
      }
      form.without_types = true;
    }
    return attempt_with_operators(request, form);
  }

  /// Compiles \p request in \p form, and with CUB's operators if the errors ask for them.
  std::variant<Built, CompileError> attempt_with_operators(const CompileRequest& request, Form& form) const {
    auto built = build(request, form);
    const auto* const error = std::get_if<CompileError>(&built);
    if (form.with_operators_of_cub || error == nullptr || !tells_of_operators_of_cub(error->log)) return built;
    form.with_operators_of_cub = true;
    return build(request, form);
  }

  Form known_form(std::size_t text) const {
    const std::lock_guard lock(forms_mutex_);
    const auto at = forms_.find(text);
    return at == forms_.end() ? Form{} : at->second;
  }

  std::variant<Built, CompileError> build(const CompileRequest& request, Form form) const {
    DeviceHeaders headers = device_headers(request, library().includes);
    std::vector<std::string> options;
    if (!sets_language(request)) options.emplace_back(form.in_later_language ? kLaterLanguage : kLanguage);
    if (form.with_names_of_nvcc) options.emplace_back("--pre-include=tuner_nvcc.h");
    if (form.with_operators_of_cub) options.emplace_back("--pre-include=tuner_cub.h");
    const std::string source =
        AuthorFiles(*request.includes, request.file_name, request.include_paths)
            .with_toolkit_headers(request.source, request.file_name, [&](const std::string& name) {
              return toolkit_place(name, headers, library().includes);
            });
    add_own_headers(request, form.host_code(), library().includes, headers);
    if (form.host_code() == HostCode::whole) return build(request, source, headers, options);
    std::vector<std::string_view> texts{source};
    for (const IncludedFile& file : request.includes->files) texts.push_back(file.text);
    options.emplace_back("--device-as-default-execution-space");
    return build(request, without_host_functions(texts, {}, form.host_code() == HostCode::types).front(), headers,
                 options);
  }

  std::variant<Built, CompileError> build(const CompileRequest& request, const std::string& source,
                                          const DeviceHeaders& headers, const std::vector<std::string>& more) const {
    const std::string name = request.file_name.empty() ? "kernel.cu" : request.file_name;
    auto made = std::make_unique<Program>(library(), with_macros(source, name, request.macros), name, headers);
    Program& program = *made;
    if (std::optional<CompileError> unsupported = check_architecture(request.architecture)) return *unsupported;
    if (request.device_launches && virtual_capability(request.architecture))
      return CompileError{"a kernel that launches kernels is linked for a chip, not for " + request.architecture, {}};
    if (request.device_launches)
      if (const auto* const missing = std::get_if<std::string>(&linker())) return CompileError{*missing, {}};
    for (const std::string& expression : request.expressions) program.add(expression);
    std::vector<std::string> options{"--gpu-architecture=" + request.architecture};
    for (const std::string& path : request.include_paths) options.push_back("--include-path=" + path);
    options.insert(options.end(), fixed_.begin(), fixed_.end());
    for (const auto& path : library().includes) options.push_back("--include-path=" + path.string());
    options.insert(options.end(), more.begin(), more.end());
    if (request.device_launches) options.emplace_back("--relocatable-device-code=true");
    for (const std::string& define : request.defines) options.push_back("--define-macro=" + define);
    for (const CompileOption& option : request.options) options.push_back(option.text);

    const nvrtcResult result = program.compile(options);
    std::string log = program.log();
    if (result == NVRTC_ERROR_OUT_OF_MEMORY)
      throw Passing(ErrorCode::out_of_memory, "NVRTC ran out of memory in " + request.file_name);
    if (result != NVRTC_SUCCESS) {
      std::string message = first_error(log, macro_names(request));
      if (message.empty()) message = library().nvrtcGetErrorString(result);
      if (result == NVRTC_ERROR_INVALID_OPTION) message = with_origin(request.options, std::move(message));
      return CompileError{std::move(message), std::move(log)};
    }
    return Built{std::move(made), std::move(log)};
  }

  std::optional<CompileError> check_architecture(const std::string& architecture) const {
    const std::optional<int> part = virtual_capability(architecture);
    const std::optional<int> wanted = part ? part : compute_capability(architecture);
    const NvrtcFacts& facts = library();
    if (wanted &&
        std::find(facts.architectures.begin(), facts.architectures.end(), *wanted) != facts.architectures.end())
      return std::nullopt;
    std::string message =
        "NVRTC " + version_text(facts.version) + " does not compile for '" + architecture + "'; it knows";
    for (const int known : facts.architectures) message += ' ' + architecture_name(known);
    return CompileError{message, {}};
  }

  /// Searched for when the first kernel needs it.
  const std::variant<DeviceLinker, std::string>& linker() const {
    linker_sought_.run(
        [this] { linker_ = load_device_linker(library().version / 1000, device_linker_folders(library())); });
    return linker_;
  }

  static CompileResult image(Program& program, const CompileRequest& request, const std::string& log) {
    Image image;
    image.code = virtual_capability(request.architecture) ? bytes_of(program.ptx()) : program.cubin();
    image.log = without_resource_lines(log);
    const auto resources = resources_in_log(log);
    for (const std::string& expression : request.expressions) {
      const std::optional<std::string> symbol = program.symbol(expression);
      if (symbol && expression.starts_with('&')) {
        image.functions.push_back({expression, *symbol, {}});
        continue;
      }
      if (!symbol) return CompileError{"'" + expression + "' names no kernel in " + request.file_name, log};
      const auto found = resources.find(*symbol);
      if (found == resources.end() && !resources.empty())
        return CompileError{"'" + expression + "' is no kernel: it must be a __global__ function", log};
      image.functions.push_back({expression, *symbol, found == resources.end() ? Resources{} : found->second});
    }
    return image;
  }

  const Nvrtc& library() const { return library_ != nullptr ? *library_ : nvrtc(); }

  const Nvrtc* const library_;
  std::vector<std::string> fixed_;
  std::string identity_;
  mutable Once linker_sought_;
  mutable std::variant<DeviceLinker, std::string> linker_;
  mutable std::mutex forms_mutex_;
  mutable std::map<std::size_t, Form> forms_;  // by the hashes of texts that compile in no other form
};

}  // namespace

/// Increase it with each change to how a kernel's text is prepared for compiling (with_macros(), host functions).
constexpr const char* kTexts = "texts 4";

std::string own_part_of_images() {
  return std::string(kLanguage) + "; " + kTexts + "; headers " + device_headers_version();
}

std::unique_ptr<Compiler> make_nvrtc_compiler(const Nvrtc& library) {
  return std::make_unique<NvrtcCompiler>(library, &library, NvrtcOptions{});
}

std::unique_ptr<Compiler> make_lazy_nvrtc_compiler(NvrtcOptions options) {
  const NvrtcFacts* const facts = find_nvrtc_facts();
  return std::make_unique<NvrtcCompiler>(facts != nullptr ? *facts : nvrtc(), nullptr, options);
}

std::variant<std::string, CompileError> compile_to_ptx(const Nvrtc& library, const CompileRequest& request,
                                                       NvrtcOptions options) {
  return NvrtcCompiler(library, &library, options).ptx(request);
}

}  // namespace tuner::cuda
