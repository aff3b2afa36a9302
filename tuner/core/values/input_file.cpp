#include <tuner/core/values/input_file.hpp>

#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>

#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/passing.hpp>
#include <tuner/error.hpp>

namespace tuner {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void reject_input(const fs::path& path, std::string_view what, const std::string& reason) {
  const bool no_memory = reason == std::strerror(ENOMEM);
  throw Error(no_memory ? ErrorCode::out_of_memory : ErrorCode::not_found,
              "cannot read " + std::string(what) + ' ' + '\'' + printable(path.string()) + "': " + with_advice(reason));
}

std::string size_limit_text(std::int64_t limit) { return "it is larger than " + std::to_string(limit) + " bytes"; }

static_assert(std::endian::native == std::endian::little, "elements lie in memory as in files");

constexpr std::string_view kMagic = "\x93NUMPY";

struct NpyHeader {
  std::string descr, shape_text;
  bool fortran = false;
  std::vector<std::uint64_t> shape;
  std::size_t data = 0;  ///< offset of the elements
};

/// The text after `'key':` in a header, which is a Python dictionary.
std::optional<std::string_view> value_of(std::string_view header, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::size_t at = header.find(quote + std::string(key) + quote);
    if (at == std::string_view::npos) continue;
    const std::size_t colon = header.find(':', at);
    const std::size_t begin = colon == std::string_view::npos ? colon : header.find_first_not_of(' ', colon + 1);
    if (begin != std::string_view::npos) return header.substr(begin);
  }
  return std::nullopt;
}

/// NumPy's `lib.format`: magic, version, length of the header, header, data.
std::optional<NpyHeader> read_npy(std::string_view bytes) {
  if (bytes.size() < 12) return std::nullopt;
  const auto byte = [&](std::size_t at) { return std::size_t{static_cast<unsigned char>(bytes[at])}; };
  const bool old = byte(6) == 1;
  const std::size_t begin = old ? 10 : 12;
  const std::size_t length = old ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (byte(6) < 1 || byte(6) > 3 || length > bytes.size() - begin) return std::nullopt;
  const std::string_view header = bytes.substr(begin, length);
  const auto descr = value_of(header, "descr"), order = value_of(header, "fortran_order"),
             shape = value_of(header, "shape");
  if (!descr || !order || !shape || !shape->starts_with('(')) return std::nullopt;
  NpyHeader npy;
  npy.data = begin + length;
  const std::size_t end = descr->find(descr->front(), 1), close = shape->find(')');
  if ((descr->front() != '\'' && descr->front() != '"') || end == std::string_view::npos ||
      close == std::string_view::npos)
    return std::nullopt;
  npy.descr = descr->substr(1, end - 1);
  npy.fortran = order->starts_with("True");
  npy.shape_text = shape->substr(0, close + 1);
  for (std::string_view rest = shape->substr(1, close - 1); !rest.empty();) {
    const std::size_t digit = rest.find_first_not_of(" ,");
    if (digit == std::string_view::npos) break;
    rest.remove_prefix(digit);
    std::uint64_t extent = 0;
    const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    if (error != std::errc()) return std::nullopt;
    npy.shape.push_back(extent);
    rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
  }
  return npy;
}

/// NumPy's name. NumPy has neither bfloat16 nor fp8 and smaller: V2 is two untyped bytes.
std::string_view numpy_name(ElementType type) {
  constexpr std::string_view names[] = {"i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "V2",
                                        "f4", "f8", "V1", "V1", "V1", "V1", "V1", "V1", "V1", "f4"};
  return names[static_cast<std::size_t>(type)];
}

void require_type(const std::string& file, std::string_view descr, ElementType type) {
  const std::string_view bare = descr.empty() ? descr : descr.substr(1);
  const bool one_byte = info(type).bytes == 1;
  const bool swapped = descr.starts_with('>') && !one_byte;
  if (bare == numpy_name(type) && !swapped) return;
  const bool is_small = one_byte && info(type).is_floating;
  if (one_byte && descr == (is_small ? "<f1" : "|b1")) return;  // ml_dtypes writes its types so
  throw Error(file + " holds elements of type '" + std::string(descr) + "', not " + std::string(info(type).name) +
              " ('<" + std::string(numpy_name(type)) + "')" +
              (bare == numpy_name(type) ? ": their byte order is reversed" : ""));
}

}  // namespace

void require_input_file(const fs::path& path, std::int64_t limit, std::string_view what) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) reject_input(path, what, "there is no such file");
  if (error) reject_input(path, what, error.message());
  if (status.type() == fs::file_type::directory) reject_input(path, what, "it is a folder");
  if (status.type() != fs::file_type::regular) reject_input(path, what, "it is not a regular file");
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) reject_input(path, what, error.message());
  if (size > static_cast<std::uintmax_t>(limit)) reject_input(path, what, size_limit_text(limit));
}

std::string read_input_file(const fs::path& path, std::int64_t limit, std::string_view what) {
  require_input_file(path, limit, what);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) reject_input(path, what, std::strerror(errno));
  std::string text(static_cast<std::size_t>(fs::file_size(path)) + 1, '\0');  // one more: a file that grows shows
  std::size_t size = 0;
  while (file.read(text.data() + size, static_cast<std::streamsize>(text.size() - size))) {
    size = text.size();
    if (size > static_cast<std::size_t>(limit)) reject_input(path, what, size_limit_text(limit));
    text.resize(2 * size);
  }
  if (file.bad()) reject_input(path, what, std::strerror(errno));
  text.resize(size + static_cast<std::size_t>(file.gcount()));
  if (text.size() > static_cast<std::size_t>(limit)) reject_input(path, what, size_limit_text(limit));
  return text;
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  return text;
}

std::vector<std::byte> read_data_file(const std::filesystem::path& path, ElementType type, std::size_t count) {
  return numbers_of(path.string(), read_input_file(path, kMaxDataFileBytes, "data file"), type, count);
}

std::vector<std::byte> numbers_of(const std::string& file, std::string_view bytes, ElementType type,
                                  std::size_t count) {
  const std::size_t wanted = count * info(type).bytes;
  std::string_view data = bytes;
  if (bytes.starts_with(kMagic)) {
    const std::optional<NpyHeader> npy = read_npy(bytes);
    if (!npy) throw Error(file + " begins like a .npy file, but its header cannot be read");
    require_type(file, npy->descr, type);
    std::uint64_t elements = 1;
    for (const std::uint64_t extent : npy->shape) {
      if (extent != 0 && elements > std::numeric_limits<std::uint64_t>::max() / extent)
        throw Error(file + " has a shape that is too large: " + npy->shape_text);
      elements *= extent;
    }
    if (elements != count)
      throw Error(file + " holds " + std::to_string(elements) + " elements, of shape " + npy->shape_text + ", not " +
                  std::to_string(count));
    if (npy->fortran && npy->shape.size() > 1)
      throw Error(file + " is in Fortran order: numpy.ascontiguousarray() converts it to C order");
    data.remove_prefix(npy->data);
  }
  if (data.size() != wanted)
    throw Error(file + " holds " + std::to_string(data.size()) + " bytes of data, not the " + std::to_string(wanted) +
                " of " + std::to_string(count) + " elements of " + std::string(info(type).name));
  const auto* const begin = reinterpret_cast<const std::byte*>(data.data());
  return {begin, begin + data.size()};
}

std::string npy_header(ElementType type, std::size_t count) {
  constexpr std::size_t kPrefix = 10, kAlignment = 64;  // NumPy aligns the elements
  const bool has_order = info(type).bytes > 1 && type != ElementType::bfloat16;
  std::string header = "{'descr': '" + std::string(has_order ? "<" : "|") + std::string(numpy_name(type)) +
                       "', 'fortran_order': False, 'shape': (" + std::to_string(count) + ",), }";
  header.append(kAlignment - (kPrefix + header.size()) % kAlignment, ' ');
  header.back() = '\n';
  std::string file(kMagic);
  file += {'\1', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return file + header;
}

}  // namespace tuner
