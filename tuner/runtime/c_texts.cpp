// The functions of tuner.h for programs that write kernel files.
#include <tuner/runtime/c_interface.hpp>

#include <cache/json.hpp>

#include <tuner/core/scanner.hpp>
#include <tuner/core/signature.hpp>
#include <tuner/core/words.hpp>

namespace tuner::runtime {

// The attribute in tuner.h is that of the global names, not of these.
#pragma GCC visibility push(default)
extern "C" {

tuner_status tuner_possible_name(const char* name, char** possible) {
  return guarded([&] {
    require(name, "name", possible, "possible");
    *possible = callers_text(possible_name(name));
  });
}

tuner_status tuner_kernel_parameters(const char* text, const char* kernel, char** json) {
  return guarded([&] {
    require(text, "text", kernel, "kernel", json, "json");
    const auto found = find_signature(code_of(text), kernel);
    if (!found) throw Error(ErrorCode::not_found, std::string("tuner: the text has no kernel '") + kernel + "'");
    Json parameters = Json::array();
    for (const Declared& one : found->arguments)
      parameters.push_back({{"name", one.name}, {"type", one.type}, {"is_const", one.is_to_const()}});
    *json = callers_text(text_of_json(parameters));
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace tuner::runtime
