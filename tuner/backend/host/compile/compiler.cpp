#include <tuner/backend/host/compile/compiler.hpp>

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <span>
#include <sstream>

#include <cache/file/paths.hpp>
#include <cache/query/image_files.hpp>
#include <cache/records/sha256.hpp>

#include <tuner/backend/host/compile/own_text.hpp>
#include <tuner/backend/host/shim/tuner_host_abi.h>
#include <tuner/backend/program_headers.hpp>
#include <tuner/backend/request_includes.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/core/values/passing.hpp>
#include <tuner/core/values/printed_warning.hpp>
#include <tuner/core/values/program_path.hpp>
#include <tuner/error.hpp>

namespace tuner::host {
namespace {

constexpr const char* kUnit = "unit.cpp";  // the translation unit: the kernel's text between parts of ours
using Part = HostCompiler::Part;
constexpr Part kHooks{"hooks", "#include \"tuner_host_interleave.h\"\n"};
// A block that is a few times too large for an array stays within the second.
constexpr Part kGuardBefore{"guard_before",
                            "#define TUNER_HOST_GUARD tuner_host_guard_before\n"
                            "#define TUNER_HOST_GUARD_BYTES 2048\n#include \"tuner_host_guard.h\"\n"};
constexpr Part kGuardAfter{"guard_after",
                           "#define TUNER_HOST_GUARD tuner_host_guard_after\n"
                           "#define TUNER_HOST_GUARD_BYTES 8192\n#include \"tuner_host_guard.h\"\n"};
constexpr const char* kArchitecture = "host";                // the folder of compiled objects among the kept images
constexpr std::int64_t kMostKept = std::int64_t{256} << 20;  // bytes of compiled objects

// Hidden symbols and no unique ones: two kernels may hold different things under one name, and a unique symbol would
// keep its module loaded for ever (ELF gABI, STB_GNU_UNIQUE).
std::vector<std::string> plain_flags(bool gnu) {
  std::vector<std::string> result{"-O2", "-std=c++17", "-fPIC", "-w", "-fvisibility=hidden", "-pthread",
                                  "-ffp-contract=off", "-fdiagnostics-color=never", "-fno-math-errno", "-pipe",
                                  // nvcc compiles so, and kernels read 16 bytes of any type through a uint4*.
                                  "-fno-strict-aliasing",
                                  // A large frame must touch the guard page, not the memory beyond it.
                                  "-fstack-clash-protection"};
  if (gnu) result.push_back("-fno-gnu-unique");
  return result;
}

/// Functions of other files are missing. Such an object would not load, so the compiler refuses it, and the text is
/// compiled without its host functions.
constexpr const char* kNoneMissing = "-Wl,-z,defs";

std::vector<std::string> flags(bool gnu) {
  std::vector<std::string> result = plain_flags(gnu);
  result.insert(result.end(), {"-shared", "-Wl,--as-needed"});
#if !defined(TUNER_HOST_SANITIZE)
  result.push_back(kNoneMissing);
#else  // the program has the sanitizer's functions
  result.insert(result.end(),
                {"-g1", "-fsanitize=" TUNER_HOST_SANITIZE, "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"});
#endif
  return result;
}

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.flush()) throw Error("cannot write " + path.string() + ": " + system_text(errno));
}

constexpr std::string_view kMachineFaults[] = {"Killed signal terminated program",
                                               "unable to execute command: Killed",
                                               "No space left on device",
                                               "Cannot allocate memory",
                                               "Resource temporarily unavailable",
                                               "virtual memory exhausted",
                                               "Too many open files",
                                               "Input/output error"};

/// Takes the place of the kernel file's folder. Deep, so that headers in the folders above it have a place too.
constexpr const char* kOwnFolder = "own/1/2/3/4/5/6/7/8";

/// Below the shim's folder: headers that come after the author's, such as those of programs.
constexpr const char* kLast = "last";

void write_below(const std::filesystem::path& folder, const std::filesystem::path& name, std::string_view text) {
  const std::filesystem::path path = (folder / name).lexically_normal();
  std::filesystem::create_directories(path.parent_path());
  write_file(path, text);
}

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw Error("cannot read " + path.string() + ": " + system_text(errno));
  std::vector<std::byte> content(static_cast<std::size_t>(file.tellg()));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(content.size()));
  return content;
}

const std::string& shim_hash() {
  // Never destroyed: destructors of static objects may launch kernels.
  static const auto& hash = *new const std::string([] {
    std::vector<std::string_view> parts;
    for (const ShimFile& file : shim_files()) {
      parts.push_back(file.name);
      parts.push_back(file.sha256);
    }
    return cache::sha256_of_parts(parts);
  }());
  return hash;
}

/// Of NVRTC's options, the host compiler follows those that turn optimisation off and those that choose a language.
/// Fast arithmetic would make results wrong here that are only inexact on a GPU (`-ffast-math` knows neither NaN nor
/// infinity). Limits on registers have no meaning here.
std::vector<std::string> followed_options(const CompileRequest& request) {
  std::vector<std::string> followed;
  for (const CompileOption& option : request.options) {
    if (is_device_debug(option.text)) followed.emplace_back("-O0");
    if (const auto language = language_in(option.text); !language.empty())
      followed.push_back("-std=" + std::string(language));
  }
  return followed;
}

/// A compiler that computes for less than this share of its time limit is kept waiting by a signal, a file system or
/// other programs.
constexpr double kLeastShare = 0.25;

constexpr const char* kDidNotEnd = " did not end within ";
constexpr double kTimeForVersion = 20;  // seconds

/// Whether a compiler was killed, or failed because disk space, memory or processes were missing, not because of its
/// source.
bool is_machine_fault(const ProcessResult& result) {
  if (result.exit_code == 128 + SIGKILL || result.exit_code == 128 + SIGTERM) return true;
  // The compiler driver's messages about its programs, and the texts of ENOSPC, ENOMEM and EAGAIN.
  return std::ranges::any_of(kMachineFaults,
                             [&](std::string_view words) { return result.output.find(words) != std::string::npos; });
}

std::string why_it_ended(const ProcessResult& result) {
  const std::string said = with_advice(first_line(result.output));
  return said.empty() ? "it was killed" : said;
}

bool is_gnu(const std::string& version) { return version.find("clang") == std::string::npos; }

}  // namespace

HostCompiler::HostCompiler(const HostOptions& options) : options_(options) {
  if (!options_.warn) options_.warn = &print_warning_once;
  if (!options.cache_objects) return;
  cache_folder_ = options.cache_directory ? options.cache_directory : cache::user_cache_dir();
}

std::optional<std::vector<std::byte>> HostCompiler::load_object(const std::string& key) const {
  const auto found =
      cache_folder_ ? cache::kept_image(*cache_folder_, kArchitecture, key, options_.warn) : std::nullopt;
  if (!found) return std::nullopt;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(found->bytes));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

void HostCompiler::store_object(const std::string& key, const std::vector<std::byte>& object) const {
  if (!cache_folder_) return;
  const cache::Image image{{reinterpret_cast<const char*>(object.data()), object.size()}, "{}"};
  const auto failure = cache::keep_image(*cache_folder_, kArchitecture, key, image, kMostKept);
  std::error_code unknown;
  // The database's own warning says that the folder cannot be made.
  if (failure && std::filesystem::is_directory(*cache_folder_, unknown))
    options_.warn("compiled objects cannot be stored in " + cache_folder_->string() + ": " + *failure);
}

std::string HostCompiler::try_compiler(const std::vector<std::string>& command, bool by_name, CxxCompiler& found) {
  found.tried += (found.tried.empty() ? "" : ", ") + listed(command);
  const std::filesystem::path path = find_program(command[0]);
  if (path.empty()) return "there is no program " + printable(command[0]);
  std::vector<std::string> whole = command;
  whole[0] = path.string();
  std::vector<std::string> question = whole;
  question.push_back("--version");
  const ProcessResult version = run_process(question, {.timeout_s = kTimeForVersion});
  const auto not_now = [&](const std::string& why) {
    return Passing(ErrorCode::compiler, "the C++ compiler does not report its version now: " + why);
  };
  if (version.passing) throw not_now(version.error);
  if (version.timed_out)
    throw not_now(listed(command) + kDidNotEnd + std::to_string(static_cast<int>(kTimeForVersion)) + " s");
  if (is_machine_fault(version)) throw not_now(listed(command) + ": " + why_it_ended(version));
  if (version.exit_code != 0) return "it fails with --version";
  const auto says = [&version](const char* word) { return version.output.find(word) != std::string::npos; };
  if (by_name && !says("clang") && !says("++"))
    return "its --version names neither g++ nor clang++ (" + first_line(version.output) + ")";
  found.command = std::move(whole);
  found.version = first_line(version.output);
  return {};
}

std::shared_ptr<const HostCompiler::CxxCompiler> HostCompiler::cxx() const {
  const std::lock_guard lock(searching_);
  if (cxx_) return cxx_;
  auto now = std::make_shared<const CxxCompiler>(search());
  if (!now->command.empty()) cxx_ = now;  // a compiler may be installed later
  return now;
}

HostCompiler::CxxCompiler HostCompiler::search() const {
  CxxCompiler found;
  if (!options_.compiler.empty()) {
    (void)try_compiler({options_.compiler}, false, found);
    return found;
  }
#if defined(TUNER_HOST_SANITIZE)
  if (try_compiler({TUNER_HOST_BUILD_COMPILER}, false, found).empty()) return found;  // with the process's own runtime
#endif
  const std::vector<std::string> chosen = words_of_cxx();
  const std::string why = chosen.empty() ? std::string() : try_compiler(chosen, true, found);
  if (!chosen.empty() && why.empty()) return found;
  for (const char* candidate : {"c++", "g++", "clang++"}) {
    if (!try_compiler({candidate}, false, found).empty()) continue;
    if (!why.empty())
      options_.warn("CXX=" + printable(listed(chosen)) + " is not used, because " + why +
                    "; kernels are compiled with " + found.command[0] + " (" + found.version + ")");
    break;
  }
  return found;
}

std::string HostCompiler::short_name() const {
  const std::shared_ptr<const CxxCompiler> compiler = cxx();
  if (compiler->command.empty()) return "none";
  // "g++ (Debian 12.2.0-14) 12.2.0", "Debian clang version 14.0.6"
  std::string version;
  std::istringstream words(compiler->version);
  for (std::string word; words >> word;) {
    if (!word.empty() && word[0] >= '0' && word[0] <= '9' && word.find('.') != std::string::npos &&
        word.find(')') == std::string::npos) {
      version = word;
    }
  }
  std::string name = (is_gnu(compiler->version) ? "g++ " : "clang++ ") + version;
  // Options of $CXX change what is measured. Words before them name programs, as in `ccache g++`.
  const auto first = std::find_if(compiler->command.begin(), compiler->command.end(),
                                  [](const std::string& word) { return word.starts_with('-'); });
  for (auto word = first; word != compiler->command.end(); ++word) name += ' ' + *word;
  return name;
}

std::string HostCompiler::identity() const {
  const std::shared_ptr<const CxxCompiler> shared = cxx();
  const CxxCompiler& compiler = *shared;
  std::string text = "host abi " + std::to_string(tuner_host::kAbiVersion) + " shim " + shim_hash().substr(0, 16) +
                     "; " + (compiler.command.empty() ? "no compiler" : compiler.version);
  for (std::size_t i = 1; i < compiler.command.size(); ++i) text += ' ' + compiler.command[i];
  for (const std::string& flag : flags(is_gnu(compiler.version))) text += ' ' + flag;
  return text;
}

std::string HostCompiler::object_key(const CompileRequest& request, const std::string& unit,
                                     const Includes& includes) const {
  std::string identity_text = identity() + (request.interleaved ? "; interleaved" : "");
  for (const std::string& option : followed_options(request)) identity_text += ' ' + option;
  std::vector<std::string_view> parts{identity_text, unit};
  for (const std::string& path : request.include_paths) parts.push_back(path);
  parts.emplace_back("files");
  std::deque<std::string> texts;
  const SharedMacros macros = shared_macros(request.source, includes);
  for (const IncludedFile& file : includes.files) {
    parts.push_back(file.path);
    texts.push_back(own_text(file.text, macros));
    parts.push_back(texts.back());
  }
  return cache::sha256_of_parts(parts);
}

/// Writes the shim once for all compiles. Writes it again if something removed a part of it from the temporary folder.
HostCompiler::SharedFolder HostCompiler::shim_folder() const {
  const std::lock_guard lock(shim_mutex_);
  const auto is_there = [this](const ShimFile& file) {
    std::error_code ignored;
    return std::filesystem::exists(shim_->path() / kShim / file.name, ignored);
  };
  if (!shim_ || !std::all_of(shim_files().begin(), shim_files().end(), is_there)) {
    auto folder = std::make_shared<const PrivateDirectory>();
    for (const ShimFile& file : shim_files()) write_below(folder->path() / kShim, file.name, file.text);
    for_each_name(kProgramHeaders, [&](std::string_view name) {
      write_below(folder->path() / kShim / kLast, name, program_header_text(name));
    });
    shim_ = std::move(folder);  // only now that it is complete
  }
  return shim_;
}

/// Compiles a part of ours into \p shim. All objects share it, so this happens once. Gives its path.
std::variant<std::string, CompileError> HostCompiler::compile_part(const CompileRequest& request, const Part& part,
                                                                   const std::filesystem::path& shim,
                                                                   std::string& log) const {
  const std::lock_guard lock(parts_mutex_);
  const std::string base = (shim / part.name).string(), object = base + ".o", source = base + ".cpp",
                    unfinished = base + ".part";
  if (std::filesystem::exists(object)) return object;
  const std::string key = cache::sha256_of_parts({identity(), part.name, part.text});
  if (const auto object_code = load_object(key)) {
    write_file(unfinished, {reinterpret_cast<const char*>(object_code->data()), object_code->size()});
  } else {
    write_file(source, part.text);
    std::vector<std::string> arguments = plain_flags(is_gnu(cxx()->version));
    arguments.insert(arguments.end(), {"-c", "-o", unfinished, source});
    if (auto error = run_compiler(request, {shim, shim}, arguments, log)) return *std::move(error);
    store_object(key, read_file(unfinished));
  }
  std::filesystem::rename(unfinished, object);  // so that a stopped compile leaves no partial object
  return object;
}

/// Runs the compiler with \p arguments. Appends its output to \p log, without the names of \p folders.
std::optional<CompileError> HostCompiler::run_compiler(const CompileRequest& request, const Folders& folders,
                                                       const std::vector<std::string>& arguments,
                                                       std::string& log) const {
  const std::shared_ptr<const CxxCompiler> shared = cxx();
  const CxxCompiler& compiler = *shared;
  std::vector<std::string> command = compiler.command;
  command.insert(command.end(), arguments.begin(), arguments.end());
  ProcessResult result = run_process(command, {.timeout_s = options_.compile_timeout_s,
                                               .stop = request.stop,
                                               .temporary_directory = folders.unit,
                                               .in_background = request.in_background});
  for (const auto& folder : {folders.unit, folders.shim}) replace_all(result.output, folder.string() + '/', "");
  if (!result.error.empty()) return CompileError{"the compiler does not run: " + result.error, "", true};
  if (result.stopped) return CompileError{"the compile was cancelled", "", true};
  if (result.timed_out) {
    std::ostringstream message;
    message << listed(compiler.command) << kDidNotEnd << options_.compile_timeout_s << " s";
    if (result.cpu_s) message << ", of which it used a processor for " << *result.cpu_s << " s";
    const bool waited = result.cpu_s && *result.cpu_s < kLeastShare * options_.compile_timeout_s;
    return CompileError{message.str(), result.output, waited};
  }
  if (result.exit_code != 0) {
    std::string message = failure_message(request, result.output, kUnit);
    if (message.empty())
      message = listed(compiler.command) + " failed with exit code " + std::to_string(result.exit_code);
    const bool machine_fault = is_machine_fault(result);
    return CompileError{std::move(message), std::move(result.output), machine_fault};
  }
  log += result.output;
  return std::nullopt;
}

CompileResult HostCompiler::compile(const CompileRequest& request) {
  try {
    const std::shared_ptr<const CxxCompiler> compiler = cxx();
    if (compiler->command.empty())
      return CompileError{
          "no C++ compiler found (tried " + compiler->tried + "); install g++ or clang++, or set CXX to one", ""};
  } catch (const Passing& failure) {
    return CompileError{failure.what(), "", /*machine_fault=*/true};
  }
  const Includes includes = includes_of(request);
  const std::vector<IncludedFile> texts = own_texts(request, includes);
  const std::string unit = program_of(request, includes, texts).unit;
  Image image;
  for (std::size_t i = 0; i < request.expressions.size(); ++i)
    image.functions.push_back({request.expressions[i], symbol(i), {}});
  std::string key;
  if (cache_folder_ && !includes.unknown) {
    key = object_key(request, unit, includes);
    if (auto object = load_object(key)) {
      image.code = std::move(*object);
      return image;
    }
  }
  if (auto error = build(request, texts, includes, image)) return *std::move(error);
  // The key must be the same as before: a header that changed in the meantime may have been read before or after.
  if (!key.empty() && key == object_key(request, unit, includes_of(request))) store_object(key, image.code);
  return image;
}

/// Compiles \p texts, if necessary without the host code that the compiler refuses.
std::optional<CompileError> HostCompiler::build(const CompileRequest& request, const std::vector<IncludedFile>& texts,
                                                const Includes& includes, Image& image) {
  const auto compile = [&](const std::vector<IncludedFile>& left) {
    return run_compiler(request, program_of(request, includes, left), image);
  };
  // The linker does not say who needs a function that is missing.
  const auto leave_out_functions = [](HostCode& code, const std::vector<RefusedCode>& errors) {
    return errors.empty() && code.leave_out_functions();
  };
  const auto is_final = [](const CompileError& error) {
    return error.machine_fault || error.message.find(kDidNotEnd) != std::string::npos;
  };
  const LeftOutCode::Work work{request, texts,         cache::sha256_of_parts(LeftOutCode::key_parts(request, texts)),
                               compile, &refused_code, leave_out_functions,
                               is_final};
  return left_out_.compiles_as_before(work) ? std::nullopt : left_out_.compile(work);
}

std::optional<CompileError> HostCompiler::run_compiler(const CompileRequest& request, const ProgramText& program,
                                                       Image& image) const {
  const SharedFolder shim = shim_folder();
  const PrivateDirectory directory;
  const Folders folders{directory.path(), shim->path() / kShim};
  const std::filesystem::path own = directory.path() / kOwnFolder, object = directory.path() / "unit.so";
  const std::filesystem::path source = (program.headers.empty() ? directory.path() : own) / kUnit;
  for (const IncludedFile& file : program.headers) write_below(own, file.path, file.text);
  for (const std::string& name : program.of_programs)
    write_below(directory.path() / kLast, name, program_header_text(name));
  write_below(directory.path(), source.lexically_relative(directory.path()), program.unit);
  const bool gnu = is_gnu(cxx()->version);
  const std::filesystem::path folder = std::filesystem::path(request.file_name).parent_path().lexically_normal();
  const auto add_copies = [&](std::vector<std::string>& to, const std::string& path) {
    const std::filesystem::path from = folder.empty() ? "." : folder;
    const std::filesystem::path copies =
        (own / std::filesystem::path(path).lexically_normal().lexically_relative(from)).lexically_normal();
    if (*copies.lexically_relative(directory.path()).begin() == "..") return;  // anybody's folder
    std::filesystem::create_directories(copies);  // also where it has no copies, for `../other/header.h`
    to.push_back("-I" + copies.string());
  };
  // Copies of the author's headers come before ours. The files that were not copied, which may be the toolkit's, come
  // after ours.
  std::vector<std::string> headers;
  if (!program.headers.empty()) {
    headers.insert(headers.end(), {"-iquote", own.string()});
    for (const std::string& path : request.include_paths) add_copies(headers, path);
  } else {
    headers.insert(headers.end(), {"-iquote", folders.shim.string()});
  }
  headers.push_back("-I" + folders.shim.string());
  headers.insert(headers.end(), {"-iquote", folder.empty() ? "." : folder.string()});
  headers.push_back("-I" + folders.shim.parent_path().string());
  for (const std::string& path : request.include_paths) headers.push_back("-I" + path);
  // After the author's folders, before the system's.
  headers.push_back("-I" + (folders.shim / kLast).string());
  headers.push_back("-I" + (directory.path() / kLast).string());
  for (const std::string& path : program.toolkit) headers.push_back("-I" + path);
  image.log.clear();
  const auto failed = [&](std::vector<std::string> arguments, const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), headers.begin(), headers.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_compiler(request, folders, arguments, image.log);
  };
  std::vector<std::string> parts;  // in the order of linking, which is that of their thread_local variables
  for (const Part* const part : {&kHooks, &kGuardBefore, &kGuardAfter}) {
    if (part == &kHooks && !request.interleaved) continue;
    auto compiled = compile_part(request, *part, folders.shim, image.log);
    if (auto* const error = std::get_if<CompileError>(&compiled)) return std::move(*error);
    parts.push_back(std::get<std::string>(std::move(compiled)));
  }
  const auto with_parts = [&](const std::filesystem::path& unit) {
    std::vector<std::string> all = parts;
    all.insert(all.end() - 1, unit.string());  // before kGuardAfter
    return all;
  };
  const std::vector<std::string> followed = followed_options(request);
  if (request.interleaved) {
    // Two steps, because -fsanitize at linking would add the sanitizer's library.
    const std::filesystem::path part = directory.path() / "unit.o";
    std::vector<std::string> instrumented = plain_flags(gnu);
    instrumented.insert(instrumented.end(), followed.begin(), followed.end());
    instrumented.insert(instrumented.end(), {"-O1", "-fsanitize=thread,alignment", "-D__tuner_interleaved"});
    // Without this, clang has a hook for the write of `x += 1`, but none for the read before it.
    if (!gnu) instrumented.insert(instrumented.end(), {"-mllvm", "-tsan-instrument-read-before-write"});
    if (auto error = failed(instrumented, {"-c", "-o", part.string(), source.string()})) return error;
    std::vector<std::string> linking = plain_flags(gnu);
    linking.insert(linking.end(), {"-shared", "-Wl,--as-needed", kNoneMissing, "-o", object.string()});
    if (auto error = failed(linking, with_parts(part))) return error;
  } else {
    std::vector<std::string> plain = flags(gnu);
    plain.insert(plain.end(), followed.begin(), followed.end());
    plain.insert(plain.end(), {"-o", object.string()});
    if (auto error = failed(plain, with_parts(source))) return error;
  }
  if (!std::filesystem::exists(object))
    return CompileError{listed(cxx()->command) + " wrote no object", std::move(image.log)};
  image.code = read_file(object);
  return std::nullopt;
}

}  // namespace tuner::host

namespace tuner {

std::unique_ptr<Compiler> make_host_compiler(const HostOptions& options) {
  return std::make_unique<host::HostCompiler>(options);
}

}  // namespace tuner
