#pragma once
/// Reads a Python script up to its first call of tune_kernel and collects the values of its names there. Runs nothing.
/// Internal to the room.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tuner/convert/python.hpp>

namespace tuner::convert {

// A limit for the whole script. Trees share branches, so a short script can describe a very large tree.
constexpr int kMostTreeLevels = 400;

struct Script {
  using Entries = std::vector<std::pair<std::string, python::Tree>>;

  python::Tree call;         ///< null: there is no call.
  bool calls_again = false;  ///< there is another call later.
  std::string no_call;       ///< why a line with the word tune_kernel is not a call; empty: no line has it.
  bool decides = false;      ///< there are branches or loops before the call.
  std::map<std::string, python::Tree> defined = {};
  std::map<std::string, Entries> items = {};  ///< assigned by key, in order
  python::Names constants = {};

  /// \p tree; if it is a name, the value of the name.
  python::Tree followed(python::Tree tree) const;
};

/// Ignores assignments after the call, which are for the next one.
Script read_script(const std::string& text);

/// The entries of a dictionary with text keys: `{"a": 1}`, `dict(a=1)`, OrderedDict([("a", 1)]).
Script::Entries dictionary(const python::Node& tree);

}  // namespace tuner::convert
