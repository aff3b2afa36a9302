#include <tuner/backend/cuda/device_headers.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <cache/sha256.hpp>

#include <tuner/backend/program_headers.hpp>
#include <tuner/core/includes.hpp>
#include <tuner/core/characters.hpp>
#include <tuner/core/definitions.hpp>
#include <tuner/core/host_functions.hpp>
#include <tuner/core/named.hpp>
#include <tuner/core/scanner.hpp>

namespace tuner::cuda {
namespace {

namespace fs = std::filesystem;

/// Headers that contain nothing for device code. They are empty here.
constexpr std::string_view kOfTheHost =
    "alloca.h any argp.h arpa/inet.h byteswap.h cpuid.h endian.h err.h error.h execinfo.h features.h fnmatch.h ftw.h "
    "glob.h grp.h ifaddrs.h net/if.h pwd.h semaphore.h stdalign.h sys/file.h sys/ipc.h sys/param.h sys/select.h "
    "sys/sem.h sys/shm.h sys/statvfs.h sys/syscall.h sys/sysinfo.h sys/times.h sys/uio.h sys/un.h utime.h wordexp.h "
    "bits/stdc++.h charconv chrono cctype cerrno cfenv clocale condition_variable csetjmp csignal ctype.h cwchar "
    "cwctype deque dirent.h dlfcn.h errno.h exception execution fenv.h malloc.h memory.h setjmp.h shared_mutex "
    "stdarg.h cstdarg syslog.h system_error sys/timeb.h sys/utsname.h termios.h typeindex valarray wchar.h wctype.h "
    "fcntl.h filesystem fstream future getopt.h iomanip ios iosfwd iostream istream libgen.h list locale "
    "locale.h map memory memory_resource mutex netdb.h netinet/in.h new omp.h ostream poll.h queue regex "
    "sched.h set signal.h sstream stack stdexcept streambuf string string_view strings.h sys/ioctl.h sys/mman.h "
    "sys/resource.h sys/socket.h sys/stat.h sys/types.h sys/wait.h thread typeinfo unistd.h unordered_map "
    "unordered_set vector emmintrin.h immintrin.h nmmintrin.h pmmintrin.h smmintrin.h tmmintrin.h x86intrin.h "
    "xmmintrin.h compare format coroutine";
/// Headers that the toolkit has as <cuda/std/…>.
constexpr std::string_view kOfTheToolkit =
    "atomic bit bitset complex concepts numbers optional ranges ratio source_location span variant";
constexpr std::string_view kBuiltIn = "initializer_list stdbool.h";

std::string of_the_toolkit(std::string_view name) {
  // A name that std has itself hides those of a using-directive.
  const std::string own = name == "variant" ? "#include <utility>\nnamespace std {\nusing ::cuda::std::get;\n}\n" : "";
  return "#pragma once\n#include <cuda/std/" + std::string(name) +
         ">\nnamespace std {\nusing namespace ::cuda::std;\n}\n" + own;
}

/// The folders with the headers of a kernel's author.
std::vector<fs::path> own_folders(const CompileRequest& request) {
  std::vector<fs::path> folders{fs::path(request.file_name).parent_path()};
  folders.insert(folders.end(), request.include_paths.begin(), request.include_paths.end());
  return folders;
}

/// Below this folder are headers of ours whose names the author's files have.
constexpr std::string_view kBesideAuthor = "tuner_toolkit/";

}  // namespace

DeviceHeaders device_headers(const CompileRequest& request, std::span<const fs::path> toolkit) {
  std::set<std::string, std::less<>> taken;
  if (request.includes) {
    for (const IncludedFile& file : request.includes->files)
      for (std::string& name : names_in(own_folders(request), file.path)) taken.insert(std::move(name));
  }
  std::error_code error;
  if (std::any_of(toolkit.begin(), toolkit.end(), [&](const auto& one) { return fs::exists(one / "curand.h", error); }))
    taken.insert("curand.h");
  DeviceHeaders headers;
  const auto add = [&](std::string_view name, std::string text) {
    headers.add(taken.contains(name) ? std::string(kBesideAuthor).append(name) : std::string(name), std::move(text));
  };
  for (const HeaderFile& file : header_files()) add(file.name, std::string(file.text));
  const auto add_empty = [&](std::string_view name) { add(name, ""); };
  for_each_name(kOfTheHost, add_empty);
  for_each_name(kProgramHeaders, [&](std::string_view name) { add(name, std::string(program_header_text(name))); });
  for_each_name(kBuiltIn, add_empty);
  for_each_name(kOfTheToolkit, [&](std::string_view name) { add(name, of_the_toolkit(name)); });
  return headers;
}

namespace {

/// \p text of \p file. A file with `#pragma once` gets a guard as well: NVRTC reads it again under each of its names.
std::string guarded(std::string text, const IncludedFile& file) {
  const auto is_once = [](const DirectiveLine& line) {
    return line.name() == "pragma" && word_at(line.rest(), 0) == "once";
  };
  const std::vector<DirectiveLine> lines = directives_of(code_of(text));
  text.insert(0, line_directive(1, file.path));
  if (std::none_of(lines.begin(), lines.end(), is_once)) return text;
  const std::string guard = fmt::format("TUNER_FILE_{:x}", std::hash<std::string>{}(file.path));
  return "#ifndef " + guard + "\n#define " + guard + '\n' + text + "\n#endif\n";
}

/// The names by which the included files of \p request can be included, each with its file; those of earlier folders
/// come first, as compilers look there first. A name relative to the
/// folder of any of these files, by which that one may include it, has to be the name of one file only.
std::vector<std::pair<std::string, const IncludedFile*>> names_of_own_files(const CompileRequest& request) {
  std::vector<std::pair<std::string, const IncludedFile*>> wanted;
  const auto add_names = [&](const auto& folders, auto add) {
    for (const fs::path& folder : folders)
      for (const IncludedFile& file : request.includes->files)
        for (std::string& name : names_in({folder}, file.path)) add(std::move(name), &file);
  };
  add_names(own_folders(request),
            [&](std::string name, const IncludedFile* file) { wanted.emplace_back(std::move(name), file); });
  std::set<fs::path> folders;
  for (const IncludedFile& file : request.includes->files) folders.insert(fs::path(file.path).parent_path());
  std::map<std::string, std::set<const IncludedFile*>> relative;
  add_names(folders, [&](std::string name, const IncludedFile* file) {
    if (!request.carried.empty()) wanted.emplace_back(name, file);
    relative[std::move(name)].insert(file);
  });
  // As they are written: `../detail/b.h` in the folder detail.
  std::map<fs::path, const IncludedFile*> files;
  for (const IncludedFile& file : request.includes->files) files.emplace(fs::path(file.path).lexically_normal(), &file);
  const auto add_written = [&](const std::string& text, const fs::path& from) {
    for (const DirectiveLine& line : directives_of(code_of(text, Literals::kept))) {
      const auto name = line.name() == "include" ? included_name(line.rest()) : std::nullopt;
      if (!name || name->find("./") == std::string::npos) continue;
      const auto file = files.find((from.parent_path() / *name).lexically_normal());
      if (file != files.end()) relative[*name].insert(file->second);
    }
  };
  add_written(request.source, request.file_name);
  for (const IncludedFile& file : request.includes->files) add_written(file.text, file.path);
  for (const auto& [name, meant] : relative) {
    if (meant.size() != 1) continue;
    wanted.emplace_back(name, *meant.begin());
    wanted.emplace_back("./" + name, *meant.begin());
  }
  return wanted;
}

}  // namespace

std::string toolkit_place(const std::string& name, const DeviceHeaders& headers, std::span<const fs::path> toolkit) {
  for (const std::string& own : {std::string(kBesideAuthor) + name, name})
    if (tuner::contains(headers.names, own)) return '<' + own + '>';
  std::error_code ignored;
  for (const fs::path& folder : toolkit)
    if (fs::is_regular_file(folder / name, ignored)) return '"' + (folder / name).string() + '"';
  return {};
}

void add_own_headers(const CompileRequest& request, HostCode code, std::span<const fs::path> toolkit,
                     DeviceHeaders& headers) {
  if (!request.includes) return;
  const AuthorFiles files(*request.includes, request.file_name, request.include_paths);
  const auto place = [&](const std::string& name) { return toolkit_place(name, headers, toolkit); };
  const std::vector<std::string_view> macros = macro_names(request);
  std::vector<std::string> texts;
  for (const IncludedFile& file : request.includes->files)
    texts.push_back(files.with_toolkit_headers(without_definitions(file.text, macros), file.path, place));
  if (code != HostCode::whole) {
    std::vector<std::string_view> all(texts.begin(), texts.end());
    all.push_back(request.source);
    texts = without_host_functions(all, {}, code == HostCode::types);
  }
  std::map<const IncludedFile*, std::string> changed;
  bool differs = !request.carried.empty();
  for (std::size_t i = 0; i < request.includes->files.size(); ++i) {
    const IncludedFile& file = request.includes->files[i];
    differs = differs || texts[i] != file.text;
    changed.emplace(&file, std::move(texts[i]));
  }
  if (!differs) return;
  for (auto& [file, text] : changed) text = guarded(std::move(text), *file);
  std::set<std::string, std::less<>> taken(headers.names.begin(), headers.names.end());
  for (auto& [name, file] : names_of_own_files(request))
    if (taken.insert(name).second) headers.add(std::move(name), changed.at(file));
}

const std::string& device_headers_version() {
  // Never destroyed: destructors of static objects may launch kernels.
  static const auto& version = *new const std::string([] {
    std::vector<std::string_view> parts{kOfTheHost, kBuiltIn, kOfTheToolkit};
    for (const HeaderFile& file : header_files()) parts.insert(parts.end(), {file.name, file.text});
    for_each_name(kProgramHeaders, [&](std::string_view name) {
      parts.insert(parts.end(), {name, program_header_text(name)});
    });
    const std::string form = of_the_toolkit("variant");
    parts.push_back(form);
    return cache::sha256_of_parts(parts).substr(0, 16);
  }());
  return version;
}

}  // namespace tuner::cuda
