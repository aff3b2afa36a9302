#include <tuner/core/kernel_file/record_type.hpp>

#include <algorithm>
#include <utility>

#include <tuner/core/cpp/declared_types.hpp>
#include <tuner/core/cpp/struct_text.hpp>
#include <tuner/core/cpp/expanded_code.hpp>
#include <tuner/core/kernel_file/kernel_draft.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

// More than any element has.
constexpr std::size_t kMostRecordBytes = 64 * 1024;
constexpr std::size_t kMostFields = 256;
constexpr const char* kNoFields = "{ }";
constexpr int kDeepestStruct = 4;  // structs in structs

/// CUDA aligns vectors of two and four numbers to their size, up to 16 bytes ("Built-in Vector Types", CUDA C++
/// Programming Guide).
std::size_t alignment_of(const VectorType& type) {
  const std::size_t one = info(type.type).bytes;
  const bool as_a_whole = type.components == 2 || type.components == 4;
  return as_a_whole ? std::min<std::size_t>(16, one * static_cast<std::size_t>(type.components)) : one;
}

std::size_t rounded_up(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// The number of numbers in a record, if all have one type and none has its own fill; else 0.
std::size_t numbers_alike(const RecordType& record) {
  const RecordField& first = record.fields.front();
  std::size_t numbers = 0;
  for (const RecordField& field : record.fields) {
    if (field.type != first.type || field.is_bool || field.fill) return 0;
    numbers += static_cast<std::size_t>(field.count);
  }
  return numbers * info(first.type).bytes == record.bytes ? numbers : 0;
}

/// Places fields one after the other, as C++ does.
class Layout {
 public:
  explicit Layout(std::size_t least_alignment = 1) : alignment_(least_alignment) {}

  /// Adds a field of \p count elements of \p type, or pointers of type \p pointer. Throws SpecError at \p place.
  void add(std::string name, const VectorType& type, std::int64_t count, bool is_bool, const SourceLocation& place,
           std::string pointer = {}) {
    const std::size_t alignment = alignment_of(type);
    RecordField field{std::move(name), type.type, 0, rounded_up(end_, alignment), is_bool, {}, std::move(pointer)};
    if (count < 1 || count > static_cast<std::int64_t>(kMostRecordBytes) || record_.fields.size() == kMostFields ||
        field.offset + static_cast<std::size_t>(count * type.components) * info(type.type).bytes > kMostRecordBytes)
      fail_as_too_large(place);
    if (find_named(record_.fields, field.name) != nullptr)
      throw SpecError(place, in_quotes(field.name) + " is given twice");
    field.count = static_cast<int>(count) * type.components;
    end_ = field.offset + static_cast<std::size_t>(field.count) * info(field.type).bytes;
    alignment_ = std::max(alignment_, alignment);
    record_.fields.push_back(std::move(field));
  }

  /// Adds \p count structs, whose fields are named `position.x`.
  void add(const std::string& name, const Layout& inner, std::int64_t count, const SourceLocation& place) {
    const std::size_t bytes = rounded_up(inner.end_, inner.alignment_);
    if (has_empty_base_ && inner.has_empty_base_) throw SpecError(place, "bases that a compiler places");
    for (std::int64_t i = 0; i < count || count < 1; ++i) {
      const std::size_t begin = rounded_up(end_, inner.alignment_);
      if (count < 1 || record_.fields.size() + inner.record_.fields.size() > kMostFields ||
          begin + bytes > kMostRecordBytes)
        fail_as_too_large(place);
      const std::string prefix = count == 1 ? name + '.' : name + '[' + std::to_string(i) + "].";
      for (RecordField field : inner.record_.fields) {
        field.name = prefix + field.name;
        field.offset += begin;
        record_.fields.push_back(std::move(field));
      }
      end_ = begin + bytes;
    }
    alignment_ = std::max(alignment_, inner.alignment_);
  }

  /// Adds the fields of a base class. Throws SpecError if places depend on more than the fields. Two empty bases may
  /// have one type, and a field after a base may lie in the padding at the base's end.
  void add_base(const Layout& base) {
    if (has_padded_base_ || (has_empty_base_ && (base.is_empty() || base.has_empty_base_)))
      throw SpecError({}, "bases that a compiler places");
    const std::size_t begin = rounded_up(end_, base.alignment_);
    for (RecordField field : base.record_.fields) {
      if (find_named(record_.fields, field.name) != nullptr) throw SpecError({}, "a field hides one of a base");
      field.offset += begin;
      record_.fields.push_back(std::move(field));
    }
    if (!base.is_empty()) end_ = begin + base.end_;
    alignment_ = std::max(alignment_, base.alignment_);
    has_empty_base_ = has_empty_base_ || base.is_empty() || base.has_empty_base_;
    has_padded_base_ = base.end_ != rounded_up(base.end_, base.alignment_);
  }
  bool is_empty() const { return record_.fields.empty(); }
  bool has_padded_base() const { return has_padded_base_; }

  /// The type and the number of the numbers, if there is nothing else and they need no other alignment than they have.
  std::optional<VectorType> numbers() const {
    const RecordType whole = Layout(*this).finish();
    const ElementType type = whole.fields.front().type;
    const std::size_t count = numbers_alike(whole);
    if (count == 0 || has_empty_base_ || whole.has_pointers() || alignment_ != info(type).bytes) return std::nullopt;
    return VectorType{type, static_cast<int>(count)};
  }

  RecordType finish() && {
    record_.bytes = rounded_up(end_, alignment_);
    return std::move(record_);
  }

 private:
  [[noreturn]] static void fail_as_too_large(const SourceLocation& place) {
    throw SpecError(place, "an element has at most " + std::to_string(kMostFields) + " fields and " +
                               std::to_string(kMostRecordBytes) + " bytes");
  }

  RecordType record_;
  std::size_t end_ = 0;
  std::size_t alignment_;
  bool has_empty_base_ = false;
  bool has_padded_base_ = false;  ///< the last one
};

/// Reads the stars and words between the type and the name of a pointer: `* const* __restrict__`. Returns the stars.
std::string accept_stars(TokenCursor& cursor) {
  std::string stars;
  while (cursor.accept("*") ||
         (!stars.empty() && (cursor.accept("const") || cursor.accept("__restrict__") || cursor.accept("__restrict"))))
    if (cursor.line().text[cursor.last_stop() - 1] == '*') stars += '*';
  return stars;
}

/// A type, which consists of words and `::`, and the first name after it.
struct TypeAndName {
  std::string type;
  Token name;
  std::string stars = {};  ///< of a pointer
  bool is_const = false;
};

TypeAndName read_type_and_name(TokenCursor& cursor) {
  TypeAndName result;
  const Token first = cursor.peek();
  for (Token last = cursor.expect_identifier("a type");; last = cursor.expect_identifier("a name")) {
    if (cursor.accept("::") || (cursor.accept(":") && (cursor.expect(":", "':'"), true))) {
      result.type += std::string(last.text) + "::";
      continue;
    }
    const bool is_pointer = cursor.peek().is("*");
    if (!cursor.at_identifier() && !is_pointer) {
      result.name = last;
      if (result.type.empty()) cursor.fail("expected the name of a field of type " + in_quotes(last.text));
      return result;
    }
    if (last.text == "const") {
      result.is_const = true;
    } else {
      if (!result.type.empty() && !result.type.ends_with("::")) result.type += ' ';
      result.type += last.text;
    }
    if (result.type.size() > 64) throw SpecError(cursor.place(first), "expected a type and the name of a field");
    if (!is_pointer) continue;
    result.stars = accept_stars(cursor);
    result.name = cursor.expect_identifier("the name of a pointer");
    return result;
  }
}

/// The things that the fields of a struct name: aliases of types, numbers of elements, and structs that are fields.
struct FieldNames {
  const ScopedCode& code;
  UsedName inside = {};  // without a name
  int depth = 0;         // structs around it

  UsedName used(std::string_view name) const { return {std::string(name), inside.namespaces, inside.at}; }
};

std::optional<VectorType> field_type(const UsedName& type, const ScopedCode& code) {
  if (const auto number = element_type(type.name)) return VectorType{*number, 1};
  const auto vector = numbers_of(code, type);
  // CUDA has no half3. If the text defines one, its alignment is unknown.
  if (vector && vector->components > 2 && info(vector->type).is_floating && info(vector->type).bytes == 2)
    return std::nullopt;
  return vector;
}

/// An integer, or a constant.
std::int64_t read_count(TokenCursor& cursor, const FieldNames& names) {
  const auto constant =
      cursor.at_identifier() ? constant_called(names.code, names.used(cursor.peek().text)) : std::nullopt;
  if (!constant) return parse_integer(cursor, "how many there are");
  cursor.take();
  return *constant;
}

std::optional<Layout> layout_called(const ScopedCode& code, const UsedName& used, int depth, bool as_base = false);

Layout read_fields(TokenCursor& cursor, Layout layout, const FieldNames& names) {
  cursor.expect("{", "the struct");
  do {
    const SourceLocation place = cursor.place();
    TypeAndName one = read_type_and_name(cursor);
    const UsedName used = without_aliases(names.code, names.used(one.type));
    const auto type = field_type(used, names.code);
    const auto inner = type || !one.stars.empty() ? std::nullopt : layout_called(names.code, used, names.depth + 1);
    if (!type && !inner && one.stars.empty())
      throw SpecError(place, in_quotes(one.type) +
                                 " is not a type of a field: fields are numbers, CUDA's vectors, pointers, and arrays "
                                 "of these");
    for (;;) {
      std::int64_t count = 1;
      while (cursor.accept("[")) {
        const std::int64_t more = read_count(cursor, names);
        cursor.expect("]", "how many there are");
        count = more < 1 || more > static_cast<std::int64_t>(kMostRecordBytes)
                    ? -1
                    : std::max<std::int64_t>(count, -1) * more;
        if (count < 1 || count > static_cast<std::int64_t>(kMostRecordBytes)) break;  // add() reports it
      }
      const auto numbers = inner ? inner->numbers() : std::nullopt;
      if (!one.stars.empty())
        layout.add(std::string(one.name.text), {ElementType::uint64, 1}, count, false, cursor.place(one.name),
                   used.name + (one.is_const ? " const" : "") + one.stars);
      else if (numbers)
        layout.add(std::string(one.name.text), {numbers->type, 1}, count * numbers->components, false,
                   cursor.place(one.name));
      else if (inner)
        layout.add(std::string(one.name.text), *inner, count, cursor.place(one.name));
      else
        layout.add(std::string(one.name.text), *type, count, used.name == "bool", cursor.place(one.name));
      if (!cursor.accept(",")) break;
      one.stars = accept_stars(cursor);
      one.name = cursor.expect_identifier("a name");
    }
    if (!cursor.peek().is("}")) cursor.expect(";", "the field");
  } while (!cursor.peek().is("}"));
  cursor.expect("}", "the fields");
  return layout;
}

/// The names that \p text and its bases define.
std::string names_of(const ScopedCode& code, const StructText& text, int depth) {
  std::string names = text.names;
  for (const std::string& name : text.bases) {
    const UsedName base = without_aliases(code, {name, text.inside.namespaces, text.inside.at});
    const auto inherited = depth > kDeepestStruct ? std::nullopt : struct_called(code, base);
    if (inherited) names += names_of(code, *inherited, depth + 1);
  }
  return names;
}

/// The fields of \p text, after those of \p layout. A name means what \p names define, else what stands before the
/// struct.
Layout own_fields(const ScopedCode& code, const StructText& text, const std::string& names, Layout layout, int depth) {
  constexpr const char* own = "tuner_names_of_this_struct";
  const LogicalLine line = LogicalLine::from(text.fields, {});
  TokenCursor cursor(line);
  if (names.empty()) return read_fields(cursor, std::move(layout), {code, text.inside, depth});
  const ScopedCode all(code.text().substr(0, text.begin) + "namespace " + own + " {" + names + "}");
  return read_fields(cursor, std::move(layout),
                     {all, {"", text.inside.namespaces + own + "::", all.text().size()}, depth});
}

std::optional<Layout> layout_called(const ScopedCode& code, const UsedName& used, int depth, bool as_base) {
  const auto text = depth > kDeepestStruct ? std::nullopt : struct_called(code, used);
  if (!text) return std::nullopt;
  try {
    Layout layout(text->alignment);
    for (const std::string& name : text->bases) {
      const UsedName base = without_aliases(code, {name, text->inside.namespaces, text->inside.at});
      const auto inherited = layout_called(code, base, depth + 1, true);
      if (!inherited) return std::nullopt;
      layout.add_base(*inherited);
    }
    if (text->fields == kNoFields) return as_base || !layout.is_empty() ? std::optional(layout) : std::nullopt;
    if (layout.has_padded_base()) return std::nullopt;
    return own_fields(code, *text, names_of(code, *text, depth), std::move(layout), depth);
  } catch (const SpecError&) {  // references, bit fields
    return std::nullopt;
  }
}

/// Whether the fill of \p buffer does not depend on the index of a number, and no file holds its records.
bool are_filled_alike(const BufferSpec& buffer) {
  const auto& fill = buffer.fill;
  return !buffer.answer && (!fill || (fill->numbers.kind != Fill::Kind::iota && !fill->element && fill->path.empty()));
}

/// The name of each number: `position[2]`, `mass`.
std::vector<std::string> number_names(const RecordType& record) {
  std::vector<std::string> names;
  for (const RecordField& field : record.fields)
    for (int i = 0; i < field.count; ++i)
      names.push_back(field.count == 1 ? field.name : field.name + '[' + std::to_string(i) + ']');
  return names;
}

/// The fill of a \p field without one: that of the buffer. A bool only gets 0 and 1: at random if the buffer's fill is
/// random, otherwise 0.
std::optional<FillSpec> fill_of(const RecordField& field, const BufferSpec& buffer) {
  if (!field.is_bool || fits_bool(buffer.fill)) return buffer.fill;
  return FillSpec{is_random(buffer.fill) ? Fill{Fill::Kind::uniform, 0, 2} : Fill{Fill::Kind::constant, 0, 0}};
}

}  // namespace

RecordType vector_record(const VectorType& type) {
  Layout layout(alignment_of(type));
  for (int i = 0; i < type.components; ++i) layout.add(std::string(1, "xyzw"[i]), {type.type, 1}, 1, false, {});
  return std::move(layout).finish();
}

RecordType read_record(TokenCursor& cursor) { return read_fields(cursor, Layout(), {ScopedCode()}).finish(); }

std::optional<RecordType> struct_by_value(const ScopedCode& code, const UsedName& used) {
  std::optional<Layout> layout = layout_called(code, used, 0);
  return layout ? std::optional(std::move(*layout).finish()) : std::nullopt;
}

std::optional<RecordType> record_called(const ScopedCode& code, const UsedName& used) {
  std::optional<RecordType> record = struct_by_value(code, used);
  if (record && record->has_pointers()) record.reset();
  return record;
}

bool is_random(const std::optional<FillSpec>& fill) {
  return !fill || (fill->numbers.kind == Fill::Kind::uniform && !fill->element && fill->path.empty());
}

bool fits_bool(const std::optional<FillSpec>& fill) {
  if (!fill || fill->low || fill->high || fill->element) return false;
  const Fill& numbers = fill->numbers;
  if (!fill->path.empty()) return true;
  if (numbers.kind == Fill::Kind::constant) return numbers.low == 0 || numbers.low == 1;
  return numbers.kind == Fill::Kind::uniform && numbers.low >= 0 && numbers.high <= 2;
}

void settle_record(BufferSpec& buffer) {
  RecordType& record = *buffer.record;
  if (const std::size_t numbers = numbers_alike(record); numbers > 0 && are_filled_alike(buffer)) {
    buffer.type = info(record.fields.front().type).name;
    buffer.component_names = number_names(record);
    buffer.components = static_cast<int>(numbers);
    buffer.record.reset();
  } else {
    buffer.type = info(ElementType::uint8).name;
    buffer.components = static_cast<int>(record.bytes);
    const bool from_a_file = buffer.fill && !buffer.fill->path.empty();
    for (RecordField& field : record.fields)
      if (!from_a_file && !field.fill) field.fill = fill_of(field, buffer);
    if (!from_a_file) buffer.fill.reset();
  }
  count_in_numbers(buffer);
}

}  // namespace tuner
