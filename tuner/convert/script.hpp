#pragma once
/// A Python script up to its first call of tune_kernel: what its names stand for there. Nothing is run. Internal to the
/// room.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tuner/convert/python.hpp>

namespace tuner::convert {

// What a script may ask for in all. Trees share their branches, so that short scripts can describe very large ones.
constexpr int kMostTreeLevels = 400;

struct Script {
  using Entries = std::vector<std::pair<std::string, python::Tree>>;

  python::Tree call;         ///< null: there is none
  bool calls_again = false;  ///< behind that
  std::string no_call;       ///< why a line that has the word is none; empty: no line has it
  bool decides = false;      ///< it has branches or loops before the call
  std::map<std::string, python::Tree> defined = {};
  std::map<std::string, Entries> items = {};  ///< assigned by key, in order
  python::Names constants = {};

  /// \p tree, or what the name that it is stands for.
  python::Tree followed(python::Tree tree) const;
};

/// What is assigned behind the call is for the next one.
Script read_script(const std::string& text);

/// What a dictionary is made of, as far as its keys are texts: `{"a": 1}`, `dict(a=1)`, OrderedDict([("a", 1)]).
Script::Entries dictionary(const python::Node& tree);

}  // namespace tuner::convert
