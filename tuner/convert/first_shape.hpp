#pragma once
/// The shape of the launches of a first kernel file: as the text launches the kernel, else a guess. Private to this
/// room.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/convert/first_launch.hpp>
#include <tuner/convert/first_template.hpp>
#include <tuner/core/cpp/scoped_code.hpp>
#include <tuner/core/cpp/signature.hpp>

namespace tuner::convert {

std::string lower_case(std::string_view text);

class FirstShape {
 public:
  struct Parameter {
    std::string name, values, usual;
    bool is_fixed = false;  ///< it has only its usual value, as other values need others beside them
  };

  /// \p code: the source; \p all: with included files; \p body: of \p kernel, with its head.
  FirstShape(const ScopedCode& code, const ScopedCode& all, const Signature& kernel, std::string_view body);

  /// The extents of a block, and the parameters that they are made of.
  const std::vector<std::string>& block() const { return block_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const std::vector<TemplateParameter>& template_parameters() const { return template_; }
  std::size_t grid_dimensions() const { return launch_ ? launch_->grid.size() : block_.size(); }
  /// An extent of the grid. Expressions may use \p sizes, the most likely ones first.
  struct GridExtent {
    std::string text;
    std::vector<std::string> host_variables = {};  ///< names in \c text that only the host knows
    bool is_guess = false;                         ///< the text's launch has another expression
  };
  GridExtent grid(std::size_t axis, const std::vector<std::string>& sizes) const;
  /// `up(n, 32), m` of the text's launch; empty without one.
  std::string written_grid() const;
  /// The block of the text's launch, if its extents are not known; else empty.
  std::string unknown_block() const;
  /// The text's launch; null without one.
  const WrittenLaunch* launch() const { return launch_ ? &*launch_ : nullptr; }
  /// The value of \p text, an attribute of that launch, if the source has it.
  std::optional<std::int64_t> value_in_launch(const std::string& text) const {
    return integer_in(all_, launch_->with_locals(text));
  }
  /// How many axes of the grid of the text's launch depend on \p size, at least 1.
  std::size_t axes_of(const std::string& size) const;
  /// The bytes of dynamic shared memory of the text's launch. Empty if there are none, nullopt if the text does not
  /// give them.
  std::optional<std::string> shared(const std::vector<std::string>& sizes) const;

 private:
  /// A name that may be the extent of a block, with its value if the text has it.
  struct Candidate {
    std::string name;
    std::optional<std::int64_t> value;
  };
  void name_block();
  void read_extent(std::size_t axis);
  std::vector<Candidate> candidates() const;
  void tie(std::size_t axis, const std::vector<Candidate>& candidates);
  void list_parameters();
  std::string step_between_blocks(std::size_t axis) const;
  /// The value of a macro or constant with this name.
  std::optional<std::int64_t> constant(std::string_view word) const;
  /// The integer of the template that the launch gives \p word, a name; null if there is none.
  const TemplateParameter* parameter_given(std::string_view word) const;
  /// The size that the launch passes as \p word; empty if \p word is not a size.
  std::string size_passed_as(std::string_view word, const std::vector<std::string>& sizes) const;
  std::optional<std::string> block_for_number(std::string_view number, std::size_t axis, std::string_view before,
                                              std::string_view after) const;
  /// What translate() needs and finds.
  struct Translation {
    std::size_t axis;
    const std::vector<std::string>* sizes;
    bool takes_host_variables;
    std::vector<std::string> host_variables = {};
    bool is_known = true;
  };
  std::string translate(std::string_view text, Translation& to, int depth) const;
  std::string host_variable(std::string_view word, Translation& to) const;
  /// Nothing if \p text has a word other than sizes, numbers and (if \p to takes them) variables of the host.
  std::optional<std::string> try_translate(std::string_view text, Translation& to) const;

  const ScopedCode& code_;
  const ScopedCode& all_;
  const Signature& kernel_;
  std::string_view body_;  ///< with the head
  std::optional<WrittenLaunch> launch_;
  std::vector<TemplateParameter> template_;
  std::vector<std::vector<std::string>> factors_;  ///< of the index along each axis, beside blockIdx
  std::vector<std::string> block_;
  std::vector<std::string> usual_;                       ///< of each extent
  std::vector<bool> is_named_;                           ///< whether an extent has its name from the text
  std::array<std::optional<std::int64_t>, 3> literals_;  ///< extents of the text that are only numbers
  std::vector<Parameter> parameters_;
};

}  // namespace tuner::convert
