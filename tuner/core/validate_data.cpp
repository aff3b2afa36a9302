#include <algorithm>

#include <tuner/core/named.hpp>
#include <tuner/core/validation.hpp>

namespace tuner {
namespace {

class DataChecks : public Checks {
 public:
  explicit DataChecks(const Checks& checks) : Checks(checks) {}

  void buffers() const {
    for (const BufferSpec& buffer : spec_.buffers) {
      check(buffer.count, buffer.is_work_space() ? Parameters::allowed : Parameters::refused,
            "only scratch and zeroed buffers may depend on parameters");
      if (buffer.fill) fill(buffer.name, buffer.type, *buffer.fill);
      if (buffer.record)
        for (const RecordField& field : buffer.record->fields)
          if (field.fill) fill(buffer.name + '.' + field.name, info(field.type).name, *field.fill);
      if (buffer.compared)
        of_element(*buffer.compared, "compare " + buffer.name, "all configurations are compared alike");
    }
  }

  void constants() const {
    for (const BufferSpec& buffer : spec_.buffers)
      if (buffer.role == BufferRole::constant && !may_occur(spec_, ProgramPart::kernel, buffer.name))
        throw SpecError(draft_.names.at(buffer.name).place,
                        "the program has no variable " + in_quotes(buffer.scope + buffer.name));
  }

  void textures() const {
    for (const TextureSpec& texture : spec_.textures) {
      const auto fail = [&](const std::string& message) { throw SpecError(texture.location, message); };
      const std::string quoted = in_quotes(texture.name), what = texture.is_surface ? "surface " : "texture ";
      const BufferSpec* const buffer = spec_.find_buffer(texture.buffer);
      if (buffer == nullptr)
        throw SpecError(texture.location, "unknown buffer " + in_quotes(texture.buffer) +
                                              suggestion(texture.buffer, names_of(spec_.buffers)));
      if (buffer->role != BufferRole::in && !(texture.is_surface && buffer->is_output()))
        fail(
            what + quoted + " shows " + in_quotes(buffer->name) +
            (texture.is_surface ? ", which is not an 'in', 'out' or 'inout' buffer" : ", which is not an 'in' buffer"));
      if (buffer->record)
        fail(what + quoted + " needs numbers, but the elements of " + in_quotes(buffer->name) + " are structs");
      if (buffer->components == 3 || buffer->components > 4)
        fail(what + quoted + " has elements of 1, 2 or 4 numbers, not of " + std::to_string(buffer->components));
      for (const Expression& extent : texture.extent)
        check(extent, Parameters::refused, "textures are the same for every configuration");
      if (!texture.reading.normalized && (texture.reading.outside == TextureReading::Outside::wrap ||
                                          texture.reading.outside == TextureReading::Outside::mirror))
        fail("'wrap' and 'mirror' are for 'normalized' coordinates");
      kind_of_memory(texture, fail);
      if (texture.is_surface) not_by_pointer(texture, fail);
    }
  }

 private:
  /// Checks the fill of \p name, a buffer or a field of one, with elements of \p type_name.
  void fill(const std::string& name, std::string_view type_name, const FillSpec& fill) const {
    const std::string why = "inputs are the same for every configuration";
    for (const auto* bound : {&fill.low, &fill.high})
      if (*bound) check(**bound, Parameters::refused, why);
    if (!fill.element) return;
    of_element(*fill.element, "fill " + name + " = expression", why);
    const auto type = element_type(type_name);
    if (type && !info(*type).is_floating && fill.element->has_reals())
      throw SpecError(fill.element->location(), in_quotes(name) + " has elements of " + std::string(type_name) +
                                                    ", which can be filled with integers only");
  }

  /// Checks an expression that may also use `i`, the index of an element.
  void of_element(const Expression& expression, const std::string& directive, const std::string& why) const {
    if (all_.count("i") != 0)
      throw SpecError(draft_.names.at("i").place,
                      "'i' is the index of an element in " + in_quotes(directive) + ": use another name");
    refuse_parameters(expression, why);
    KnownNames known = fixed_;
    known["i"] = {};
    check_names(expression, known);
  }

  /// tex1Dfetch and tex1D read different kinds of memory. On a GPU the wrong one reports no error.
  template <typename Fail>
  void kind_of_memory(const TextureSpec& texture, const Fail& fail) const {
    if (texture.is_surface || texture.extent.size() > 1) {
      if (texture.reading.fetched) fail("only a texture of one dimension can be 'fetched'");
      return;
    }
    const auto has = [&](std::initializer_list<const char*> functions) {
      return std::any_of(functions.begin(), functions.end(), [&](const char* function) {
        return may_occur(spec_, ProgramPart::kernel, function) || may_occur(spec_, ProgramPart::reference, function);
      });
    };
    const bool fetches = has({"tex1Dfetch"}), samples = has({"tex1D", "tex1DLod", "tex1DGrad", "tex1DLayered"});
    if (!texture.reading.fetched && fetches && !samples)
      fail("the kernel reads with tex1Dfetch, which needs linear memory: write 'texture " + texture.name + " = " +
           texture.buffer + "[...] fetched'");
    if (texture.reading.fetched && samples && !fetches)
      fail("the kernel reads with tex1D, but 'fetched' is for tex1Dfetch only: leave it out");
    if (texture.reading.fetched && texture.reading.outside != TextureReading::Outside::clamp)
      fail("tex1Dfetch always reads zero outside: 'fetched' excludes 'border', 'wrap' and 'mirror'");
  }

  /// After a run the elements of a surface are copied to its buffer, over anything that was written there.
  template <typename Fail>
  void not_by_pointer(const TextureSpec& surface, const Fail& fail) const {
    for (const auto* const launches : {&spec_.launches, &spec_.reference}) {
      const auto takes = [&](const std::string& name) {
        return std::any_of(launches->begin(), launches->end(),
                           [&](const LaunchSpec& launch) { return contains(launch.arguments, name); });
      };
      if (takes(surface.name) && takes(surface.buffer))
        fail("the kernel gets " + in_quotes(surface.buffer) + " through " + in_quotes(surface.name) +
             " and also by pointer: what it writes through one would be lost in the other");
    }
    if (spec_.find_buffer(surface.buffer)->role != BufferRole::inout) return;
    for (const LaunchSpec& launch : spec_.prepare)
      if (contains(launch.arguments, surface.buffer))
        fail("'prepare' changes " + in_quotes(surface.buffer) + ", but a surface holds a copy of it");
  }
};

}  // namespace

void validate_buffers(const Checks& checks) { DataChecks(checks).buffers(); }

void validate_memory(const Checks& checks) {
  const DataChecks data(checks);
  data.constants();
  data.textures();
}

}  // namespace tuner
