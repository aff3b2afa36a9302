#include <tuner/backend/cuda/compile/device_headers.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <cache/records/sha256.hpp>

#include <tuner/backend/program_headers.hpp>
#include <tuner/core/cpp/definitions.hpp>
#include <tuner/core/cpp/includes.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner::cuda {
namespace {

namespace fs = std::filesystem;

/// Headers that contain nothing for device code. They are empty here.
constexpr std::string_view kHostOnlyHeaders =
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
constexpr std::string_view kToolkitHeaders =
    "atomic bit bitset complex concepts numbers optional ranges ratio source_location span variant";
constexpr std::string_view kBuiltInHeaders = "initializer_list stdbool.h";

std::string forwarding_text(std::string_view name) {
  // A name that std has itself hides those of a using-directive.
  const std::string own = name == "variant" ? "#include <utility>\nnamespace std {\nusing ::cuda::std::get;\n}\n" : "";
  return "#pragma once\n#include <cuda/std/" + std::string(name) +
         ">\nnamespace std {\nusing namespace ::cuda::std;\n}\n" + own;
}

/// The folders with the headers of a kernel's author.
std::vector<fs::path> author_folders(const CompileRequest& request) {
  std::vector<fs::path> folders{fs::path(request.file_name).parent_path()};
  folders.insert(folders.end(), request.include_paths.begin(), request.include_paths.end());
  return folders;
}

/// The name of the file \p path without links.
std::string real_name(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  return error ? path : real.string();
}

/// The folder of our headers that have the name of an author's file.
constexpr std::string_view kRenamed = "tuner_toolkit/";

}  // namespace

DeviceHeaders device_headers(const CompileRequest& request, std::span<const fs::path> toolkit) {
  std::set<std::string, std::less<>> taken;
  if (request.includes) {
    for (const IncludedFile& file : request.includes->files)
      for (std::string& name : names_in(author_folders(request), file.path)) taken.insert(std::move(name));
  }
  std::error_code error;
  if (std::any_of(toolkit.begin(), toolkit.end(), [&](const auto& one) { return fs::exists(one / "curand.h", error); }))
    taken.insert("curand.h");
  DeviceHeaders headers;
  const auto add = [&](std::string_view name, std::string text) {
    headers.add(taken.contains(name) ? std::string(kRenamed).append(name) : std::string(name), std::move(text));
  };
  for (const HeaderFile& file : header_files()) add(file.name, std::string(file.text));
  const auto add_empty = [&](std::string_view name) { add(name, ""); };
  for_each_name(kHostOnlyHeaders, add_empty);
  for_each_name(kProgramHeaders, [&](std::string_view name) { add(name, std::string(program_header_text(name))); });
  std::set<std::string> of_programs;
  const auto look = [&](const std::string& text) {
    for (std::string& name : program_headers_in(text)) of_programs.insert(std::move(name));
  };
  look(request.source);
  if (request.includes)
    for (const IncludedFile& file : request.includes->files) look(file.text);
  for (const std::string& name : of_programs) add(name, std::string(program_header_text(name)));
  for_each_name(kBuiltInHeaders, add_empty);
  for_each_name(kToolkitHeaders, [&](std::string_view name) { add(name, forwarding_text(name)); });
  return headers;
}

std::string toolkit_place(const std::string& name, const DeviceHeaders& headers, std::span<const fs::path> toolkit) {
  for (const std::string& own : {std::string(kRenamed) + name, name})
    if (tuner::contains(headers.names, own)) return '<' + own + '>';
  std::error_code ignored;
  for (const fs::path& folder : toolkit)
    if (fs::is_regular_file(folder / name, ignored)) return '"' + (folder / name).string() + '"';
  return {};
}

std::vector<IncludedFile> own_texts(const CompileRequest& request, std::span<const fs::path> toolkit,
                                    const DeviceHeaders& headers) {
  const AuthorFiles files(*request.includes, request.file_name, request.include_paths);
  const auto place = [&](const std::string& name) { return toolkit_place(name, headers, toolkit); };
  const std::vector<std::string_view> macros = macro_names(request);
  std::vector<IncludedFile> texts{
      {request.file_name, files.with_toolkit_headers(request.source, request.file_name, place)}};
  std::set<std::string> seen;
  for (const IncludedFile& file : request.includes->files)
    if (seen.insert(real_name(file.path)).second)
      texts.push_back(
          {file.path, files.with_toolkit_headers(without_definitions(file.text, macros), file.path, place)});
  return texts;
}

std::string add_own_headers(const CompileRequest& request, const std::vector<IncludedFile>& texts,
                            DeviceHeaders& headers) {
  std::map<std::string, std::string> names;  // by file
  // A text under its own path needs no #line, with which NVRTC would not precompile it.
  const auto has_own_name = [](const std::string& path) {
    return path.starts_with('/') && path.find_first_of("\"<>\\") == npos;
  };
  for (std::size_t i = 1; i < texts.size(); ++i)
    names.emplace(real_name(texts[i].path),
                  has_own_name(texts[i].path)
                      ? texts[i].path
                      : fmt::format("tuner_own/{}/{}", i, fs::path(texts[i].path).filename().string()));
  std::map<std::string, std::string> places;  // by path
  for (const IncludedFile& file : request.includes->files)
    places.emplace(fs::path(file.path).lexically_normal().string(), names.at(real_name(file.path)));
  const auto place = [&](const fs::path& path) {
    const auto at = places.find(path.lexically_normal().string());
    return at == places.end() ? std::string() : at->second;
  };
  const IncludeFolders folders(request.file_name, request.include_paths);
  for (std::size_t i = 1; i < texts.size(); ++i) {
    const std::string& name = names.at(real_name(texts[i].path));
    headers.add(name, (name == texts[i].path ? std::string() : line_directive(1, texts[i].path)) +
                          with_places(texts[i].text, texts[i].path, folders, place));
  }
  return with_places(texts.front().text, request.file_name, folders, place);
}

const std::string& device_headers_version() {
  // Never destroyed: destructors of static objects may launch kernels.
  static const auto& version = *new const std::string([] {
    std::vector<std::string_view> parts{kHostOnlyHeaders, kBuiltInHeaders, kToolkitHeaders};
    for (const HeaderFile& file : header_files()) parts.insert(parts.end(), {file.name, file.sha256});
    const auto add_program_header = [&](std::string_view name) {
      parts.insert(parts.end(), {name, program_header_text(name)});
    };
    for_each_name(kProgramHeaders, add_program_header);
    for_each_name(kProgramFolders, add_program_header);
    for (const std::string_view name : kProgramTexts) add_program_header(name);
    const std::string form = forwarding_text("variant");
    parts.push_back(form);
    return cache::sha256_of_parts(parts).substr(0, 16);
  }());
  return version;
}

}  // namespace tuner::cuda
