// Does nothing: its target carries the precompiled headers of the libraries (SextantTargets.cmake).
namespace sextant {}
