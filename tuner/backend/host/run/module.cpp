#include <tuner/backend/host/run/module.hpp>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <span>

#include <tuner/backend/host/compile/process.hpp>
#include <tuner/backend/host/run/sanitizer.hpp>
#include <tuner/backend/image_variables.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/core/values/passing.hpp>

namespace tuner::host {
namespace {

/// The loader has its own lock, but ThreadSanitizer does not see it. Without this one, it would report a race between
/// two modules that are loaded at the same address one after the other.
std::mutex loader_mutex;

struct Text {
  std::uintptr_t address, begin = 0, end = 0;
};

template <typename T>
T read_at(std::span<const std::byte> code, std::size_t offset) {
  T value{};
  if (offset < code.size() && code.size() - offset >= sizeof value)
    std::memcpy(&value, code.data() + offset, sizeof value);
  return value;
}

/// The `__shared__` variables in the ELF image \p code. A thread-local variable with the size of an address is left out
/// if code initialises it: it may be the address of dynamic shared memory, which its thread computes once.
std::vector<StaticShared> static_shared_of(std::span<const std::byte> code) {
  std::map<std::string, ElfW(Sym)> variables;
  std::size_t guard = std::numeric_limits<std::size_t>::max();  // the first of tuner_host_guard.h
  const auto header = read_at<ElfW(Ehdr)>(code, 0);
  const auto section = [&](std::size_t i) {
    return read_at<ElfW(Shdr)>(code, header.e_shoff + i * sizeof(ElfW(Shdr)));
  };
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const ElfW(Shdr) table = section(i);
    if (table.sh_type != SHT_SYMTAB) continue;
    const std::size_t names = section(table.sh_link).sh_offset,
                      end = std::min(code.size(), table.sh_offset + table.sh_size);
    for (std::size_t at = table.sh_offset; at < end; at += sizeof(ElfW(Sym))) {
      const auto symbol = read_at<ElfW(Sym)>(code, at);
      const std::size_t begin = names + symbol.st_name;
      if ((symbol.st_info & 15) != STT_TLS || begin >= code.size()) continue;
      const char* const text = reinterpret_cast<const char*>(code.data() + begin);
      const std::string name(text, strnlen(text, code.size() - begin));
      if (name == "_ZL5guard") guard = std::min<std::size_t>(guard, symbol.st_value);
      variables.emplace(name, symbol);
    }
  }
  std::vector<StaticShared> result;
  for (const auto& [name, symbol] : variables) {
    const bool in_function = name.starts_with("_ZZ");
    const bool is_own = name.starts_with("_ZN10tuner_host") || name == "_ZL5guard";
    if (!in_function && ((!name.starts_with("_ZL") && !name.starts_with("_ZN")) || is_own)) continue;
    const bool is_initialised = variables.contains(in_function ? "_ZGV" + name.substr(2) : "__tls_guard");
    if (symbol.st_value > guard && (!is_initialised || symbol.st_size != sizeof(void*)))
      result.push_back({symbol.st_value - guard, symbol.st_size});
  }
  return result;
}

/// The executable segment around text->address. The loader maps segments where stacks of ended threads were, unseen by
/// ThreadSanitizer.
__attribute__((no_sanitize("thread"))) int find_text(dl_phdr_info* info, std::size_t, void* data) {
  Text& text = *static_cast<Text*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (text.address < begin || text.address >= begin + segment.p_memsz) continue;
    text.begin = begin;
    text.end = begin + segment.p_memsz;
    return 1;
  }
  return 0;
}

/// \p why: the words of the system or the loader.
LaunchError not_loaded(const std::string& what, const std::string& why) {
  LaunchError error{what + with_advice(why)};
  const bool has_no_memory = why.find(std::strerror(ENOMEM)) != why.npos || why.find("out of memory") != why.npos;
  if (has_no_memory) error.code = ErrorCode::out_of_memory;
  error.machine_fault = is_passing(std::string_view(why));
  return error;
}

}  // namespace

std::variant<std::unique_ptr<HostModule>, LaunchError> HostModule::load(const Image& image) {
  std::unique_ptr<HostModule> module(new HostModule);
  std::string path;
  // Sanitizers read the file again from another process, to name places in it: they need a real file.
  if (!sanitizer::kActive) module->descriptor_ = memfd_create("tuner-kernel", MFD_CLOEXEC);
  if (module->descriptor_ >= 0) {
    // The descriptor stays open while the module is loaded. dlopen knows libraries by their path: for a second module
    // with the same number it would silently return the first.
    path = "/proc/self/fd/" + std::to_string(module->descriptor_);
  } else {
    std::error_code error;
    std::filesystem::path folder = std::filesystem::temp_directory_path(error);
    if (error) folder = "/tmp";
    path = (folder / "tuner-kernel-XXXXXX").string();
    module->descriptor_ = mkostemp(path.data(), O_CLOEXEC);
    if (module->descriptor_ < 0) {
      const bool has_no_memory = errno == ENOMEM;
      return not_loaded(
          "cannot write the kernel to " + path + ": ",
          std::strerror(errno) + std::string(has_no_memory ? "" : "; set TMPDIR to a folder that can be written"));
    }
    module->path_ = path;
  }
  if (!write_all(module->descriptor_, image.code))
    return not_loaded("cannot write the kernel to " + path + ": ", std::strerror(errno));
  {
    const std::lock_guard lock(loader_mutex);
    module->handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module->handle_ == nullptr) return not_loaded("cannot load the kernel: ", dlerror());
  }

  const auto find = [&module](const std::string& name) { return dlsym(module->handle_, name.c_str()); };
  Kernel& kernel = module->kernel_;
  const auto bind = reinterpret_cast<tuner_host::Bind*>(find("tuner_host_bind"));
  kernel.context = reinterpret_cast<tuner_host::GetContext*>(find("tuner_host_context"));
  kernel.accesses = reinterpret_cast<tuner_host::GetAccesses*>(find("tuner_host_accesses"));
  kernel.guards = {reinterpret_cast<tuner_host::GetGuard*>(find("tuner_host_guard_before")),
                   reinterpret_cast<tuner_host::GetGuard*>(find("tuner_host_guard_after"))};
  if (bind == nullptr || kernel.context == nullptr || kernel.guards[0] == nullptr || kernel.guards[1] == nullptr ||
      bind(&api()) == 0) {
    return LaunchError{"the kernel was not compiled by this version of the host backend"};
  }
  module->static_shared_ = static_shared_of(std::as_bytes(std::span(image.code)));
  kernel.static_shared = module->static_shared_;
  for (const CompiledFunction& function : image.functions) {
    using GetEntry = const tuner_host::EntryInfo*();
    using GetVariable = void*(void**);
    void* const found = find(function.symbol);
    if (found == nullptr)
      return LaunchError{"the image has no kernel " + function.expression + " (" + function.symbol + ")"};
    HostModule::Function& loaded = module->functions_.emplace_back();
    loaded.expression = function.expression;
    if (function.expression.starts_with('&')) {
      void* bytes = nullptr;
      const void* const address = reinterpret_cast<GetVariable*>(found)(&bytes);
      loaded.variable = {reinterpret_cast<std::uintptr_t>(address), reinterpret_cast<std::uintptr_t>(bytes)};
    } else {
      loaded.entry = reinterpret_cast<GetEntry*>(found)();
    }
  }
  link_map* loaded_at = nullptr;
  constexpr std::string_view kSections[] = {".data", ".bss"};
  if (dlinfo(module->handle_, RTLD_DI_LINKMAP, &loaded_at) == 0)
    for (const ImageVariable& one : variables_in(image.code, kSections)) {
      // Bytes that a sanitizer keeps between variables are copied with them.
      sanitizer::unpoison(reinterpret_cast<char*>(loaded_at->l_addr + one.at), one.bytes);
      module->lasting_variables_.push_back({loaded_at->l_addr + one.at, one.bytes});
    }
  Text text{reinterpret_cast<std::uintptr_t>(bind)};
  dl_iterate_phdr(&find_text, &text);
  kernel.text_begin = text.begin;
  kernel.text_end = text.end;
  return module;
}

HostModule::~HostModule() {
  const std::lock_guard lock(loader_mutex);
  if (handle_ != nullptr) dlclose(handle_);
  char of_descriptor[32];  // no string: there may be no memory left
  std::snprintf(of_descriptor, sizeof of_descriptor, "/proc/self/fd/%d", descriptor_);
  const char* const path = path_.empty() ? of_descriptor : path_.c_str();
  void* still_there = handle_ != nullptr ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  if (still_there != nullptr) dlclose(still_there);
  // If the loader keeps a library because of thread-local destructors, its descriptor stays open too; see load().
  if (descriptor_ >= 0 && (still_there == nullptr || !path_.empty())) close(descriptor_);
  if (!path_.empty()) unlink(path_.c_str());
}

std::vector<std::string> HostModule::parameter_types(std::size_t function) const {
  return tuner::parameter_types(functions_.at(function).entry->type);
}

Resources HostModule::resources(std::size_t, const LaunchShape&) const { return {}; }

}  // namespace tuner::host
