#include <tuner/convert/written_struct.hpp>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include <tuner/core/values/element_type.hpp>
#include <tuner/error.hpp>

namespace tuner::convert {
namespace {

/// `float4`; empty if CUDA has no such vector.
std::string vector_name(ElementType type, int count) {
  for (const char* base :
       {"char", "uchar", "short", "ushort", "int", "uint", "longlong", "ulonglong", "half", "float", "double"}) {
    const std::string name = fmt::format("{}{}", base, count);
    const auto vector = vector_type(name);
    if (vector && vector->type == type && vector->components == count) return name;
  }
  return {};
}

/// `const float*` of `float const*`.
std::string pointer_text(const std::string& type) {
  constexpr std::string_view word = " const";
  const std::size_t at = type.find(word);
  return at == std::string::npos ? type : "const " + type.substr(0, at) + type.substr(at + word.size());
}

enum class Several { as_arrays, as_vectors };

std::string field_text(const RecordField& field, Several several) {
  const std::string name = field_name(field.name);
  const std::string type = !field.pointer.empty() ? pointer_text(field.pointer)
                           : field.is_bool        ? "bool"
                                                  : std::string(info(field.type).name);
  if (field.count == 1) return fmt::format("{} {}; ", type, name);
  const std::string vector = several == Several::as_vectors ? vector_name(field.type, field.count) : "";
  return vector.empty() ? fmt::format("{} {}[{}]; ", type, name, field.count) : fmt::format("{} {}; ", vector, name);
}

bool has_layout(const std::string& text, const RecordType& record) try {
  const LogicalLine line = LogicalLine::from(text, {});
  TokenCursor cursor(line);
  const RecordType read = read_record(cursor);
  return read.bytes == record.bytes && std::equal(read.fields.begin(), read.fields.end(), record.fields.begin(),
                                                  record.fields.end(), [](const RecordField& a, const RecordField& b) {
                                                    return a.type == b.type && a.count == b.count &&
                                                           a.offset == b.offset && a.is_bool == b.is_bool &&
                                                           a.pointer == b.pointer;
                                                  });
} catch (const SpecError&) {
  return false;  // two inner fields may get one name
}

}  // namespace

std::string field_name(std::string name) {
  std::erase(name, ']');
  std::ranges::replace_if(
      name, [](char c) { return c == '.' || c == '['; }, '_');
  return name;
}

std::string struct_text(const RecordType& record) {
  for (const Several several : {Several::as_arrays, Several::as_vectors}) {
    std::string text = "{ ";
    for (const RecordField& field : record.fields) text += field_text(field, several);
    text += '}';
    if (has_layout(text, record)) return text;
  }
  return {};
}

}  // namespace tuner::convert
