#include <tuner/backend/cuda/compile/nvrtc_compiler.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include <cache/records/sha256.hpp>

#include <tuner/backend/cuda/compile/compile_log.hpp>
#include <tuner/backend/cuda/compile/device_headers.hpp>
#include <tuner/backend/cuda/compile/device_linker.hpp>
#include <tuner/backend/cuda/compile/nvrtc_program.hpp>
#include <tuner/backend/cuda/compile/precompiled_headers.hpp>
#include <tuner/backend/cuda/compile/source_text.hpp>
#include <tuner/backend/cuda/compile/target.hpp>
#include <tuner/backend/cuda/driver/architecture.hpp>
#include <tuner/backend/cuda/driver/driver.hpp>
#include <tuner/backend/left_out_code.hpp>
#include <tuner/backend/request_includes.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/core/cpp/host_code.hpp>
#include <tuner/core/cpp/includes.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/cpp/scoped_code.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/core/values/passing.hpp>
#include <tuner/core/values/threads.hpp>

namespace tuner::cuda {
namespace {

/// With a zero byte at the end, which marks the end of PTX for the driver.
std::vector<std::byte> bytes_of(const std::string& ptx) {
  std::vector<std::byte> bytes(ptx.size() + 1);
  std::memcpy(bytes.data(), ptx.c_str(), bytes.size());
  return bytes;
}

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

/// Whether NVRTC gets the headers among \p texts as texts. Files that nothing changed are read from the disk, as any
/// compiler reads them.
bool is_rewritten(const CompileRequest& request, const std::vector<IncludedFile>& texts) {
  const auto is_other = [&](const IncludedFile& one) { return !tuner::contains(request.includes->files, one); };
  return texts.size() == 1 || !request.carried.empty() || std::any_of(texts.begin() + 1, texts.end(), is_other);
}

/// Increase it with each change to how a kernel's text is prepared for compiling (with_macros(), host functions), or to
/// how its target is chosen.
constexpr const char* kTexts = "texts 9";

/// An option of every compile, and the first NVRTC that has it.
struct FixedOption {
  const char* text;
  int since;
};
constexpr FixedOption kFixedOptions[] = {
    {"--ptxas-options=-v", 0},       // resources in the log
    {"--diag-suppress=161", 11080},  // the warning about `#pragma tuner`
    {"--device-int128", 11050},      // as nvcc
    // NVRTC refuses functions that are not marked, such as some of CUTLASS.
    {"--device-as-default-execution-space", 0},
    // With a hit in the driver's compute cache, the log would not contain the resources.
    {"--no-cache", 12090},
};

/// Whether all \p errors, of a compile that read files, are in \p texts.
bool are_in(const std::vector<IncludedFile>& texts, const std::vector<RefusedCode>& errors) {
  std::set<std::filesystem::path> paths;
  for (const IncludedFile& one : texts) paths.insert(std::filesystem::path(one.path).lexically_normal());
  return std::ranges::all_of(errors, [&](const RefusedCode& error) {
    return !error.function.empty() || paths.contains(std::filesystem::path(error.place.file).lexically_normal());
  });
}

/// Whether one of \p errors of \p request, with the texts \p texts, is an error of each configuration. It must not
/// come from an instantiation, which depends on arguments. The values of macros must not reach its place: they come
/// after the includes at the beginning of the source.
bool come_again(const CompileRequest& request, const std::vector<IncludedFile>& texts,
                const std::vector<RefusedCode>& errors) {
  bool in_headers = false;
  if (!request.macros.empty()) {
    const std::string& source = texts.front().text;
    const std::size_t end = end_of_headers(source, texts, macro_names(request));
    if (end == 0 || source.find("include", end) != std::string::npos) return false;
    in_headers = true;
  }
  return std::ranges::any_of(errors, [&](const RefusedCode& error) {
    return error.function.empty() && error.instantiated_at.empty() &&
           !(in_headers && error.place.file == texts.front().path);
  });
}

class NvrtcCompiler : public Compiler {
 public:
  /// \p library: null for the process's NVRTC, which is then loaded for the first compile.
  NvrtcCompiler(const NvrtcFacts& facts, const Nvrtc* library, NvrtcOptions options)
      : library_(library),
        precompiled_(
            facts.version >= PrecompiledHeaders::kFirstVersion ? std::move(options.folder_of_headers) : nullptr,
            options.long_s) {
    for (const FixedOption& option : kFixedOptions)
      if (facts.version >= option.since) fixed_.emplace_back(option.text);
    if (options.line_info) fixed_.emplace_back("--generate-line-info");
    identity_ = "nvrtc " + version_text(facts.version) + ' ' + kLanguage + "; " + kTexts;
    for (const std::string& option : fixed_) identity_ += ' ' + option;
    identity_ += "; headers " + device_headers_version();
    if (!facts.headers.empty()) identity_ += "; " + facts.headers;
  }

  std::string identity() const override { return identity_; }

  CompileResult compile(const CompileRequest& request) override {
    auto built = build(request);
    if (auto* const error = std::get_if<CompileError>(&built)) return std::move(*error);
    Built& made = std::get<Built>(built);
    CompileResult result = image(made, request);
    Image* const compiled = std::get_if<Image>(&result);
    if (!request.device_launches || compiled == nullptr) return result;
    auto linked = std::get<DeviceLinker>(linker()).link(compiled->code, made.target, request.file_name);
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
    std::string target;
  };

  /// How the texts of a request are compiled.
  struct Form {
    std::string target = {};          ///< CompileRequest::architecture, or own_target()
    bool is_whole = true;             ///< nothing is left out
    bool in_later_language = false;   ///< kLaterLanguage
    bool with_names_of_nvcc = false;  ///< headers/tuner_nvcc.h
  };

  /// Compiles the texts as they are. If that fails, compiles them without the host code that NVRTC refuses. The result
  /// depends on the request alone.
  std::variant<Built, CompileError> build(const CompileRequest& original) const {
    CompileRequest request = original;
    if (!request.includes)  // the request came from another process
      request.includes = std::make_shared<const Includes>(includes_of(request));
    const DeviceHeaders headers = device_headers(request, library().includes);
    const std::vector<IncludedFile> texts = own_texts(request, library().includes, headers);
    const std::string own = own_target(request.architecture, library().version);
    const bool is_own = !own.empty() && names_own_instructions(texts);
    auto built = build(request, headers, texts, is_own ? own : request.architecture);
    const auto* const error = std::get_if<CompileError>(&built);
    if (error == nullptr || is_own || own.empty() || !needs_own_target(error->log)) return built;
    auto again = build(request, headers, texts, own);
    return std::holds_alternative<Built>(again) ? std::move(again) : std::move(built);
  }

  std::variant<Built, CompileError> build(const CompileRequest& request, const DeviceHeaders& headers,
                                          const std::vector<IncludedFile>& texts, const std::string& target) const {
    std::optional<CompileError> first;  // of the texts as without_host_code() compiles them first
    bool is_always_refused = false;
    // With or without the parts that were left out before, the image is the same.
    if (!is_program(request.source) && !(left_out_.knows_any() && left_out_.knows(key_of(request, texts)))) {
      auto built = build(request, headers, texts, Form{.target = target});
      auto* const error = std::get_if<CompileError>(&built);
      if (error == nullptr || refused_code(error->log).empty()) return built;
      if (misses_a_file(error->log)) return with_all_missing(request, headers, texts, std::move(*error));
      is_always_refused = come_again(request, texts, refused_code(error->log));
      if (is_rewritten(request, texts) || are_in(texts, refused_code(error->log))) first = std::move(*error);
    }
    std::optional<CompileError> reported;
    const bool may_be_later = !sets_language(request) && has_designators(texts);
    for (const Form& form : {Form{target, true, true}, Form{target, false}, Form{target, false, true}}) {
      if (form.in_later_language && !may_be_later) continue;
      auto built = form.is_whole ? build(request, headers, texts, form)
                                 : without_host_code(request, headers, texts, form, first);
      if (std::holds_alternative<Built>(built)) {
        if (form.is_whole && is_always_refused) left_out_.remember_refused(key_of(request, texts));
        return built;
      }
      if (!reported && !form.is_whole) reported = std::get<CompileError>(std::move(built));
    }
    return *std::move(reported);
  }

  static std::string key_of(const CompileRequest& request, const std::vector<IncludedFile>& texts) {
    return cache::sha256_of_parts(LeftOutCode::key_parts(request, texts));
  }

  /// Compiles \p texts without the host code that NVRTC refuses.
  std::variant<Built, CompileError> without_host_code(const CompileRequest& request, const DeviceHeaders& headers,
                                                      const std::vector<IncludedFile>& texts, Form form,
                                                      const std::optional<CompileError>& first) const {
    std::optional<Built> result;
    const auto compile = [&](const std::vector<IncludedFile>& left) -> std::optional<CompileError> {
      if (&left == &texts && first && !form.in_later_language) return first;
      auto built = build(request, headers, left, form);
      if (auto* const error = std::get_if<CompileError>(&built)) return std::move(*error);
      result = std::get<Built>(std::move(built));
      return std::nullopt;
    };
    // The names come late: a text may define them in another way.
    const auto add_names = [&form](const HostCode&, const auto&) {
      return !std::exchange(form.with_names_of_nvcc, true);
    };
    const auto comes_again = [&](const auto& errors) { return come_again(request, texts, errors); };
    const LeftOutCode::Work work{request, texts,      key_of(request, texts), compile, &refused_code, add_names,
                                 nullptr, comes_again};
    if (left_out_.compiles_as_before(work)) return *std::move(result);
    form.with_names_of_nvcc = false;
    if (auto error = left_out_.compile(work)) return *std::move(error);
    return *std::move(result);
  }

  /// \p error, which says that a file is missing, with all others that are.
  CompileError with_all_missing(const CompileRequest& request, const DeviceHeaders& headers,
                                const std::vector<IncludedFile>& texts, CompileError error) const {
    const auto compile = [&](const std::vector<IncludedFile>& left) -> std::optional<CompileError> {
      auto built = build(request, headers, left, Form{request.architecture, false, false, true});
      if (auto* const next = std::get_if<CompileError>(&built)) return std::move(*next);
      return std::nullopt;
    };
    return tuner::with_all_missing(std::move(error), HostCode(texts, request.expressions), &refused_code, compile);
  }

  std::variant<Built, CompileError> build(const CompileRequest& request, DeviceHeaders headers,
                                          const std::vector<IncludedFile>& texts, const Form& form) const {
    std::vector<std::string> more;
    if (!sets_language(request)) more.emplace_back(form.in_later_language ? kLaterLanguage : kLanguage);
    if (form.with_names_of_nvcc) more.emplace_back("--pre-include=tuner_nvcc.h");
    if (form.with_names_of_nvcc && names_operators_of_cub(texts)) more.emplace_back("--pre-include=tuner_cub.h");
    std::string source = texts.front().text;
    if (!form.is_whole || is_rewritten(request, texts)) source = add_own_headers(request, texts, headers);
    const std::string name = request.file_name.empty() ? "kernel.cu" : request.file_name;
    if (std::optional<CompileError> unsupported = check_architecture(request.architecture)) return *unsupported;
    if (request.device_launches && virtual_capability(request.architecture))
      return CompileError{"a kernel that launches kernels is linked for a chip, not for " + request.architecture, {}};
    if (request.device_launches)
      if (const auto* const missing = std::get_if<std::string>(&linker())) return CompileError{*missing, {}};
    std::vector<std::string> options{"--gpu-architecture=" + form.target};
    for (const std::string& path : request.include_paths) options.push_back("--include-path=" + path);
    options.insert(options.end(), fixed_.begin(), fixed_.end());
    for (const auto& path : library().includes) options.push_back("--include-path=" + path.string());
    options.insert(options.end(), more.begin(), more.end());
    if (request.device_launches) options.emplace_back("--relocatable-device-code=true");
    for (const std::string& define : request.defines) options.push_back("--define-macro=" + define);
    for (const CompileOption& option : request.options) options.push_back(option.text);

    // In every process, because images are exchanged.
    const std::size_t headers_end = end_of_headers(source, texts, macro_names(request));
    const std::string text = with_macros(source, name, request.macros, headers_end, static_cast<bool>(precompiled_));
    std::unique_ptr<Program> program;
    const auto compile = [&](const std::string& more_options) {
      program = std::make_unique<Program>(library(), text, name, headers);
      for (const std::string& expression : request.expressions) program->add(expression);
      std::vector<std::string> all = options;
      if (!more_options.empty())  // 20283 is about the #line after the headers, which does no harm
        all.insert(all.end(), {more_options, "--pch-messages=false", "--diag-suppress=20283"});
      return program->compile(all);
    };
    const nvrtcResult result = headers_end == 0 || !precompiled_
                                   ? compile({})
                                   : precompiled_.compile(library(), source.substr(0, headers_end), options, headers,
                                                          std::span(texts).subspan(1), compile);
    std::string log = program->log();
    if (result == NVRTC_ERROR_OUT_OF_MEMORY)
      throw Passing(ErrorCode::out_of_memory, "NVRTC ran out of memory in " + request.file_name);
    if (result != NVRTC_SUCCESS) {
      std::string message = first_error(log, macro_names(request));
      if (message.empty()) message = library().nvrtcGetErrorString(result);
      if (result == NVRTC_ERROR_INVALID_OPTION) message = with_origin(request.options, std::move(message));
      return CompileError{std::move(message), std::move(log)};
    }
    return Built{std::move(program), std::move(log), form.target};
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

  /// The linker is found when the first kernel needs it.
  const std::variant<DeviceLinker, std::string>& linker() const {
    linker_sought_.run(
        [this] { linker_ = load_device_linker(library().version / 1000, device_linker_folders(library())); });
    return linker_;
  }

  static CompileResult image(const Built& built, const CompileRequest& request) {
    Program& program = *built.program;
    const std::string& log = built.log;
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
      if (!symbol) return CompileError{"'" + expression + "' does not name a kernel in " + request.file_name, log};
      const auto found = resources.find(*symbol);
      if (found == resources.end() && !resources.empty())
        return CompileError{"'" + expression + "' is not a kernel: it must be a __global__ function", log};
      image.functions.push_back({expression, *symbol, found == resources.end() ? Resources{} : found->second});
      image.functions.back().resources.target = built.target;
    }
    return image;
  }

  const Nvrtc& library() const { return library_ != nullptr ? *library_ : nvrtc(); }

  const Nvrtc* const library_;
  std::vector<std::string> fixed_;
  std::string identity_;
  mutable Once linker_sought_;
  mutable std::variant<DeviceLinker, std::string> linker_;
  mutable LeftOutCode left_out_;
  mutable PrecompiledHeaders precompiled_;
};

}  // namespace

std::string own_part_of_images() {
  std::string part = std::string(kLanguage) + "; " + kTexts;
  for (const FixedOption& option : kFixedOptions) part += std::string(" ") + option.text;
  return part + "; headers " + device_headers_version();
}

std::unique_ptr<Compiler> make_nvrtc_compiler(const Nvrtc& library, NvrtcOptions options) {
  return std::make_unique<NvrtcCompiler>(library, &library, std::move(options));
}

std::unique_ptr<Compiler> make_lazy_nvrtc_compiler(NvrtcOptions options) {
  const NvrtcFacts* const facts = find_nvrtc_facts();
  return std::make_unique<NvrtcCompiler>(facts != nullptr ? *facts : nvrtc(), nullptr, std::move(options));
}

std::variant<std::string, CompileError> compile_to_ptx(const Nvrtc& library, const CompileRequest& request,
                                                       NvrtcOptions options) {
  return NvrtcCompiler(library, &library, std::move(options)).ptx(request);
}

}  // namespace tuner::cuda
