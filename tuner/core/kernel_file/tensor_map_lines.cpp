#include <tuner/core/kernel_file/tensor_map_lines.hpp>

#include <algorithm>
#include <set>

#include <tuner/core/expression/expression_tree.hpp>
#include <tuner/core/expression/token.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

using Shape = TensorMapShape;

/// The words after the extent. An expression ends before them.
constexpr std::string_view kWords = "box strides steps swizzle interleave promotion fill tf32";

/// Reads expressions between commas.
std::vector<Expression> read_list(KernelReader& kernel, TokenCursor& cursor, std::string_view closing) {
  std::vector<Expression> all;
  do {
    all.push_back(kernel.expression(cursor, closing));
  } while (cursor.accept(","));
  return all;
}

/// Reads a number of bytes: `none`, `128B` or an expression.
Expression read_bytes(KernelReader& kernel, TokenCursor& cursor) {
  if (cursor.accept("none")) return Expression::constant(0);
  const Token token = cursor.peek();
  if (!cursor.at_number() || !token.text.ends_with('B')) return kernel.expression(cursor, kWords);
  cursor.take();
  return Expression::constant(decimal_integer(token.text.substr(0, token.text.size() - 1), cursor.place(token)));
}

/// The rest of a `tensormap` line.
class MapReader {
 public:
  MapReader(KernelReader& kernel, TokenCursor& cursor, TensorMapSpec& map)
      : kernel_(kernel), cursor_(cursor), map_(map) {}

  void read() {
    dense_strides();
    for (std::size_t i = 0; i < map_.rank; ++i) map_.numbers[Shape::step + i] = Expression::constant(1);
    std::set<std::string_view> given;
    while (!cursor_.at_end()) {
      const Token word = cursor_.expect_identifier("'box', 'swizzle' or another property of a tensor map");
      if (!given.insert(word.text).second)
        throw SpecError(cursor_.place(word), in_quotes(word.text) + " is given twice");
      property(word);
    }
    if (!given.contains("box")) cursor_.fail("a tensor map has a 'box': the extents that one copy takes");
  }

 private:
  void property(const Token& word) {
    if (word.text == "box") return list(word, Shape::box, map_.rank);
    if (word.text == "strides") return list(word, Shape::stride, map_.rank - 1);
    if (word.text == "steps") return list(word, Shape::step, map_.rank);
    if (word.text == "swizzle") return bytes(Shape::swizzle);
    if (word.text == "interleave") return bytes(Shape::interleave);
    if (word.text == "promotion") return bytes(Shape::promotion);
    if (word.text == "tf32") {
      map_.is_tf32 = true;
    } else if (word.text == "fill") {
      map_.fills_with_nan = cursor_.accept("nan");
      if (!map_.fills_with_nan && !cursor_.accept("zero"))
        cursor_.fail("expected 'zero' or 'nan', not " + cursor_.described());
    } else {
      throw SpecError(cursor_.place(word), "unknown property of a tensor map: " + in_quotes(word.text) +
                                               suggestion(word.text, {"box", "strides", "steps", "swizzle",
                                                                      "interleave", "promotion", "fill", "tf32"}));
    }
  }

  void list(const Token& word, Shape::Place first, std::size_t count) {
    const std::vector<Expression> all = read_list(kernel_, cursor_, kWords);
    if (all.size() != count)
      throw SpecError(cursor_.place(word), in_quotes(word.text) + " has " + std::to_string(all.size()) +
                                               " numbers, and a map of " + std::to_string(map_.rank) +
                                               " dimensions needs " + std::to_string(count));
    std::ranges::copy(all, map_.numbers.begin() + first);
  }

  void bytes(Shape::Place place) { map_.numbers[place] = read_bytes(kernel_, cursor_); }

  void dense_strides() {
    for (std::size_t i = map_.rank - 1; i-- > 0;) {
      const Expression& inner = map_.numbers[Shape::extent + i + 1];
      map_.numbers[Shape::stride + i] =
          i + 2 == map_.rank ? inner : combine(Op::multiply, {map_.numbers[Shape::stride + i + 1], inner});
    }
  }

  KernelReader& kernel_;
  TokenCursor& cursor_;
  TensorMapSpec& map_;
};

class TensorMapChecks : public Checks {
 public:
  explicit TensorMapChecks(const Checks& checks) : Checks(checks) {}

  void run() const {
    for (const TensorMapSpec& map : spec_.tensor_maps) shows_numbers(map);
  }

 private:
  void shows_numbers(const TensorMapSpec& map) const {
    const auto fail = [&](const std::string& message) { throw SpecError(map.location, message); };
    const BufferSpec* const buffer = spec_.find_buffer(map.buffer);
    if (buffer == nullptr)
      return fail("unknown buffer " + in_quotes(map.buffer) + suggestion(map.buffer, names_of(spec_.buffers)));
    const std::string subject = "tensor map " + in_quotes(map.name);
    if (buffer->role == BufferRole::constant)
      fail(subject + " shows " + in_quotes(buffer->name) + ", which is 'constant': a variable of the program");
    if (buffer->record || buffer->components != 1)
      fail(subject + " needs a buffer whose elements are single numbers: declare " + in_quotes(buffer->name) +
           " with one number for each element");
  }
};

bool is_interleaved(const TensorMapSpec& map) {
  const Expression& bytes = map.numbers[Shape::interleave];
  return !bytes.names().empty() || bytes.evaluate_integer({}) != 0;
}

}  // namespace

void read_tensor_map(KernelReader& kernel, TokenCursor& cursor) {
  TensorMapSpec map;
  map.location = cursor.place();
  map.name = kernel.declare(cursor, "tensor map", false);
  cursor.expect("=", "the name");
  map.buffer = cursor.expect_identifier("the name of a buffer").text;
  cursor.expect("[", "the buffer: its extents follow, as in x[m, k]");
  const std::vector<Expression> extents = read_list(kernel, cursor, "]");
  if (extents.size() > Shape::kMostDimensions) cursor.fail("a tensor map has one to five dimensions");
  map.rank = extents.size();
  std::ranges::copy(extents, map.numbers.begin() + Shape::extent);
  cursor.expect("]", "the extents");
  MapReader(kernel, cursor, map).read();
  // The pointers of all calls must be as aligned as the map's address.
  kernel.draft.least_alignment = std::max(kernel.draft.least_alignment, tensor_map_alignment(is_interleaved(map)));
  kernel.spec.tensor_maps.push_back(std::move(map));
}

void validate_tensor_maps(const Checks& checks) { TensorMapChecks(checks).run(); }

}  // namespace tuner
