#include <tuner/core/kernel_file/kernel_reader.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/expression/token.hpp>
#include <tuner/core/kernel_file/record_type.hpp>
#include <tuner/core/kernel_file/tensor_map_lines.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

// More than any element has.
constexpr std::int64_t kMostComponents = 4096;
constexpr std::int64_t kMostOffset = 4096;
constexpr std::int64_t kMostAligned = 256;  // that of allocated memory

/// Reads a vector type (`float4`). Reads nothing if something else is there.
std::optional<VectorType> accept_vector(TokenCursor& cursor) {
  const std::string_view word = cursor.peek().text;
  const auto vector = element_type(word) ? std::nullopt : vector_type(word);
  if (vector) cursor.take();
  return vector;
}

/// Reads `TYPE`, a vector type (`float4`), `TYPE[COUNT]` for elements of several numbers, or the fields of a struct:
/// `{ float3 position; int id; }`.
void read_element_type(KernelReader& kernel, TokenCursor& cursor, BufferSpec& buffer) {
  if (cursor.peek().is("{")) {
    const SourceLocation place = cursor.place();
    buffer.record = read_record(cursor);
    if (buffer.record->has_pointers())
      throw SpecError(place,
                      "the elements of a buffer hold no pointers: declare numbers of 64 bits, as docs/kernel-files.md "
                      "shows in \"Structs of pointers\"");
    buffer.type = info(ElementType::uint8).name;
    return;
  }
  if (const auto vector = accept_vector(cursor)) {
    buffer.type = info(vector->type).name;
    buffer.components = vector->components;
  } else {
    buffer.type = kernel.type_name(cursor);
  }
  if (cursor.accept("[")) {
    const SourceLocation place = cursor.place();
    const std::int64_t count = parse_integer(cursor, "how many of them make up an element");
    cursor.expect("]", "how many of them make up an element");
    if (count < 1 || count > kMostComponents)
      throw SpecError(place, "an element is made up of 1 to " + std::to_string(kMostComponents) + " numbers");
    buffer.components *= static_cast<int>(count);
  }
  count_in_numbers(buffer);
}

/// Reads the part before the last name of `geometry::origin`.
std::string read_scope(TokenCursor& cursor) {
  std::string scope;
  for (TokenCursor ahead = cursor; ahead.at_identifier(); cursor = ahead) {
    const std::string name(ahead.take().text);
    if (!ahead.accept(":") || !ahead.accept(":")) break;
    scope += name + "::";
  }
  return scope;
}

template <BufferRole role>
void read_buffers(KernelReader& kernel, TokenCursor& cursor) {
  std::vector<BufferSpec>& all = kernel.spec.buffers;
  const std::size_t first = all.size();
  do {
    BufferSpec buffer;
    buffer.role = role;
    if (role == BufferRole::constant) buffer.scope = read_scope(cursor);
    buffer.name = kernel.declare(cursor, "buffer", false);
    cursor.expect("[", "the buffer's name: its number of elements follows, as in a[n]");
    buffer.count = kernel.expression(cursor);
    cursor.expect("]", "the number of elements");
    if (cursor.accept(":")) read_element_type(kernel, cursor, buffer);
    all.push_back(std::move(buffer));
  } while (cursor.accept(","));
  for (std::size_t i = all.size() - 1; i-- > first;)
    if (all[i].type.empty())
      all[i].typed_neighbour = all[i + 1].type.empty() ? all[i + 1].typed_neighbour : all[i + 1].name;
}

/// Reads a number, or an expression of sizes, up to a comma, a brace or the end of the line. If \p alone, a number also
/// ends at a blank.
void read_bound(KernelReader& kernel, TokenCursor& cursor, bool alone, const char* what, double& number,
                std::optional<Expression>& computed, Numbers numbers = Numbers::integers) {
  TokenCursor ahead = cursor;
  ahead.accept("-");
  if (ahead.at_number()) {
    ahead = cursor;
    const double read = parse_number(ahead, what);
    if (alone || ahead.at_end() || ahead.peek().is(",") || ahead.peek().is("}") || ahead.peek().is("only")) {
      number = read;
      cursor = ahead;
      return;
    }
  }
  if (cursor.at_end()) cursor.fail("expected " + std::string(what) + ", not " + cursor.described());
  computed = kernel.expression(cursor, "}", numbers);
}

void read_uniform(KernelReader& kernel, TokenCursor& cursor, FillSpec& fill) {
  // Only two expressions need a comma between them.
  const bool has_comma = at_commas(cursor.rest(), true).size() > 1;
  read_bound(kernel, cursor, !has_comma, "the lower bound", fill.numbers.low, fill.low);
  cursor.accept(",");
  const SourceLocation place = cursor.place();
  read_bound(kernel, cursor, false, "the upper bound", fill.numbers.high, fill.high);
  if (!fill.low && !fill.high && fill.numbers.low >= fill.numbers.high)
    throw SpecError(place, "the upper bound must be above the lower one");
}

/// Reads `inf`, `-inf` or `nan`. Reads nothing if something else is there.
bool read_special(TokenCursor& cursor, double& number) {
  TokenCursor ahead = cursor;
  const bool negative = ahead.accept("-");
  if (ahead.accept("inf"))
    number = negative ? -HUGE_VAL : HUGE_VAL;
  else if (!negative && ahead.accept("nan"))
    number = std::nan("");
  else
    return false;
  cursor = ahead;
  return true;
}

/// Reads an expression that may use `i`.
Expression of_element(KernelReader& kernel, TokenCursor& cursor, Numbers numbers) {
  if (kernel.draft.lets.count("i") != 0)
    cursor.fail("'i' is the index of an element here and a 'let' above: rename the 'let'");
  return kernel.expression(cursor, "", numbers);
}

void read_fill(KernelReader& kernel, TokenCursor& cursor) {
  std::vector<FillDraft> all;  // the same fill for several buffers
  do {
    const Token token = cursor.expect_identifier("the name of a buffer");
    FillDraft& one = all.emplace_back(FillDraft{std::string(token.text), {}, {}, cursor.place(token)});
    while (cursor.accept("."))
      one.field.append(one.field.empty() ? "" : ".").append(cursor.expect_identifier("the name of a field").text);
  } while (cursor.accept(","));
  cursor.expect("=", "the buffer's name");
  const Token kind = cursor.expect_identifier(
      "'uniform LOW HIGH', 'constant VALUE', 'iota', 'expression EXPRESSION' or 'file \"NAME\"'");
  FillSpec fill;
  fill.location = cursor.place(kind);
  if (kind.text == "uniform") {
    read_uniform(kernel, cursor, fill);
  } else if (kind.text == "constant") {
    fill.numbers.kind = Fill::Kind::constant;
    if (!read_special(cursor, fill.numbers.low))
      read_bound(kernel, cursor, false, "a number", fill.numbers.low, fill.low);
  } else if (kind.text == "iota") {
    fill.numbers.kind = Fill::Kind::iota;
  } else if (kind.text == "expression") {
    fill.element = of_element(kernel, cursor, Numbers::any);
  } else if (kind.text == "file") {
    fill.path = parse_quoted(cursor, "a file's name in quotes, as in \"a.npy\"");
  } else {
    throw SpecError(fill.location, "unknown fill " + in_quotes(kind.text) +
                                       suggestion(kind.text, {"uniform", "constant", "iota", "expression", "file"}));
  }
  for (FillDraft& one : all) {
    one.fill = fill;
    kernel.once("fill " + filled_name(one));
  }
  std::move(all.begin(), all.end(), std::back_inserter(kernel.draft.fills));
}

void read_scalar_type(KernelReader& kernel, TokenCursor& cursor, ScalarSpec& scalar) {
  if (cursor.peek().is("{")) {
    scalar.record = read_record(cursor);
  } else if (const auto vector = accept_vector(cursor)) {
    scalar.record = vector_record(*vector);
  } else {
    scalar.type = kernel.type_name(cursor);
  }
  if (scalar.record) scalar.type = info(ElementType::uint8).name;
}

ScalarValue read_value(KernelReader& kernel, TokenCursor& cursor) {
  ScalarValue value;
  value.location = cursor.place();
  if (cursor.accept("true"))
    value.number = 1;
  else if (cursor.accept("false"))
    value.number = 0;
  else if (cursor.accept(kNullPointer))
    value.address = kNullPointer;
  else if (!read_special(cursor, value.number))
    read_bound(kernel, cursor, false, "a number, or an expression of sizes", value.number, value.computed,
               Numbers::any);
  return value;
}

/// Reads `{ 1, nx, { 3, true } }`.
void read_values(KernelReader& kernel, TokenCursor& cursor, std::vector<ScalarValue>& values) {
  cursor.expect("{", "the numbers of a struct");
  do {
    const SourceLocation place = cursor.place();
    if (cursor.accept("."))
      throw SpecError(place,
                      "the numbers of a struct stand in the order of its members, without their names: '{ 1, nx }'");
    if (cursor.peek().is("{"))
      read_values(kernel, cursor, values);
    else
      values.push_back(read_value(kernel, cursor));
  } while (cursor.accept(","));
  cursor.expect("}", "the numbers");
}

void read_scalars(KernelReader& kernel, TokenCursor& cursor) {
  do {
    ScalarSpec& scalar = kernel.spec.scalars.emplace_back();
    scalar.name = kernel.declare(cursor, "scalar", false);
    if (cursor.accept(":")) read_scalar_type(kernel, cursor, scalar);
    cursor.expect("=", "the scalar: the value used for tuning follows");
    scalar.location = cursor.place();
    if (cursor.peek().is("{"))
      read_values(kernel, cursor, scalar.values);
    else
      scalar.values.push_back(read_value(kernel, cursor));
    scalar.only = cursor.accept("only");
  } while (cursor.accept(","));
}

void read_reading(TokenCursor& cursor, TextureReading& reading) {
  using Outside = TextureReading::Outside;
  struct Word {
    std::string_view name;
    void (*set)(TextureReading&);
  };
  static constexpr Word words[] = {{"linear", [](TextureReading& r) { r.linear = true; }},
                                   {"normalized", [](TextureReading& r) { r.normalized = true; }},
                                   {"as_float", [](TextureReading& r) { r.as_float = true; }},
                                   {"fetched", [](TextureReading& r) { r.fetched = true; }},
                                   {"clamp", [](TextureReading& r) { r.outside = Outside::clamp; }},
                                   {"border", [](TextureReading& r) { r.outside = Outside::border; }},
                                   {"wrap", [](TextureReading& r) { r.outside = Outside::wrap; }},
                                   {"mirror", [](TextureReading& r) { r.outside = Outside::mirror; }}};
  while (cursor.at_identifier()) {
    const Token word = cursor.take();
    const Word* const known = find_named(words, word.text);
    if (known == nullptr)
      throw SpecError(cursor.place(word), "unknown way to read a texture: " + in_quotes(word.text) +
                                              suggestion(word.text, names_of(words)));
    known->set(reading);
  }
}

template <bool is_surface>
void read_texture(KernelReader& kernel, TokenCursor& cursor) {
  TextureSpec texture;
  texture.location = cursor.place();
  texture.is_surface = is_surface;
  texture.name = kernel.declare(cursor, is_surface ? "surface" : "texture", false);
  cursor.expect("=", "the name");
  texture.buffer = cursor.expect_identifier("the name of a buffer").text;
  cursor.expect("[", "the buffer: its extent follows, as in pixels[nx, ny]");
  do {
    if (texture.extent.size() == 3) cursor.fail("a texture has one to three dimensions");
    texture.extent.push_back(kernel.expression(cursor));
  } while (cursor.accept(","));
  cursor.expect("]", "the extent");
  if (!is_surface) read_reading(cursor, texture.reading);
  kernel.spec.textures.push_back(std::move(texture));
}

/// Reads a number that no size can have. Reads nothing if something else is there.
std::optional<double> accept_scalar(TokenCursor& cursor) {
  if (cursor.accept("true")) return 1;
  if (cursor.accept("false")) return 0;
  const std::string_view word = cursor.rest().substr(0, cursor.rest().find_first_of(" \t,"));
  const bool is_size = !word.starts_with('-') && word.find('.') == npos && word.find("e-") == npos;
  return is_size ? std::nullopt : std::optional(parse_number(cursor, "a number"));
}

void read_verify(KernelReader& kernel, TokenCursor& cursor) {
  VerifySpec& verify = kernel.spec.verification.problems.emplace_back();
  Places values;
  Places& places = kernel.draft.verify_places.emplace_back();
  places = kernel.assignments(
      cursor,
      [&](const std::string& name) {
        const SourceLocation place = cursor.place();
        if (const auto number = name == "offset" ? std::nullopt : accept_scalar(cursor)) {
          verify.scalars[name] = *number;
          values[name] = place;
          return;
        }
        const std::int64_t given = parse_size(cursor, "an integer");
        if (given < 0) throw SpecError(place, name + "=" + std::to_string(given) + " is negative");
        if (name == "offset" && given > kMostOffset)
          throw SpecError(place, "an offset is at most " + std::to_string(kMostOffset) +
                                     " elements: it moves buffers off their alignment, no further");
        (name == "offset" ? verify.offset : verify.sizes[name]) = given;
      },
      true);
  for (auto& [name, place] : values) places[name] = place;
}

void read_aligned(KernelReader& kernel, TokenCursor& cursor) {
  kernel.once("aligned");
  const SourceLocation place = cursor.place();
  kernel.spec.alignment = parse_integer(cursor, "a number of bytes");
  const auto is_power = std::has_single_bit(static_cast<std::uint64_t>(kernel.spec.alignment));
  if (kernel.spec.alignment < 1 || kernel.spec.alignment > kMostAligned || !is_power)
    throw SpecError(place, "an alignment is a power of two up to " + std::to_string(kMostAligned) + " bytes");
}

void read_tolerance(KernelReader& kernel, TokenCursor& cursor) {
  kernel.once("tolerance");
  Tolerance tolerance;
  std::set<std::string> seen;
  do {
    const Token word = cursor.expect_identifier("'relative NUMBER' or 'absolute NUMBER'");
    if (word.text != "relative" && word.text != "absolute") {
      throw SpecError(cursor.place(word), "expected 'relative' or 'absolute', not " + in_quotes(word.text) +
                                              suggestion(word.text, {"relative", "absolute"}));
    }
    if (!seen.insert(std::string(word.text)).second)
      throw SpecError(cursor.place(word), in_quotes(word.text) + " is given twice");
    const SourceLocation place = cursor.place();
    const double bound = parse_number(cursor, "a number");
    if (bound < 0) throw SpecError(place, "a tolerance cannot be negative");
    (word.text == "relative" ? tolerance.relative : tolerance.absolute) = bound;
  } while (!cursor.at_end());
  kernel.spec.verification.tolerance = tolerance;
}

void read_compare(KernelReader& kernel, TokenCursor& cursor) {
  const Token token = cursor.expect_identifier("the name of an output");
  kernel.once("compare " + std::string(token.text));
  cursor.expect("when", "the output's name: which elements i are compared follows, as in 'when i < n'");
  kernel.draft.compared.push_back(
      {std::string(token.text), of_element(kernel, cursor, Numbers::integers), cursor.place(token)});
}

/// Reads an expression that a file may have once. \p members lead from the spec to its place.
template <auto... members>
void read_amount(KernelReader& kernel, TokenCursor& cursor) {
  kernel.once(std::string(kernel.directive.text));
  (kernel.spec.*....*members) = kernel.expression(cursor);
}

void read_estimate(KernelReader& kernel, TokenCursor& cursor) {
  kernel.once("estimate");
  kernel.spec.work.estimate = kernel.expression(cursor, "", Numbers::any);
}

}  // namespace

std::span<const Directive> data_directives() {
  static constexpr Directive directives[] = {
      {"in", read_buffers<BufferRole::in>},
      {"constant", read_buffers<BufferRole::constant>},
      {"out", read_buffers<BufferRole::out>},
      {"inout", read_buffers<BufferRole::inout>},
      {"consumed", read_buffers<BufferRole::consumed>},
      {"scratch", read_buffers<BufferRole::scratch>},
      {"zeroed", read_buffers<BufferRole::zeroed>},
      {"fill", read_fill},
      {"scalar", read_scalars},
      {"texture", read_texture<false>},
      {"surface", read_texture<true>},
      {"tensormap", read_tensor_map},
      {"verify", read_verify},
      {"aligned", read_aligned},
      {"tolerance", read_tolerance},
      {"compare", read_compare},
      {"accumulates", read_amount<&KernelSpec::verification, &VerificationSpec::accumulates>},
      {"bytes", read_amount<&KernelSpec::work, &WorkSpec::bytes>},
      {"flops", read_amount<&KernelSpec::work, &WorkSpec::flops>},
      {"in_flight", read_amount<&KernelSpec::work, &WorkSpec::in_flight>},
      {"estimate", read_estimate},
      {"device_launches", read_amount<&KernelSpec::device_launches>},
  };
  return directives;
}

}  // namespace tuner
