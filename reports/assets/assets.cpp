#include "reports/assets/assets.h"

// .incbin puts a file's bytes into the object; CMake gives the folders and rebuilds when a file changes.
#define SEXTANT_ASSET(name, file)                     \
  asm(".pushsection .rodata\n"                        \
      ".global sextant_asset_" #name                  \
      "\n"                                            \
      ".global sextant_asset_" #name                  \
      "_end\n"                                        \
      "sextant_asset_" #name                          \
      ":\n"                                           \
      ".incbin \"" file                               \
      "\"\n"                                          \
      "sextant_asset_" #name                          \
      "_end:\n"                                       \
      ".byte 0\n"                                     \
      ".popsection\n");                               \
  extern "C" const char sextant_asset_##name[];       \
  extern "C" const char sextant_asset_##name##_end[]; \
  std::string_view sextant::assets::name() { return {sextant_asset_##name, sextant_asset_##name##_end}; }

SEXTANT_ASSET(vega_js, SEXTANT_VEGA_DIR "/vega.min.js")
SEXTANT_ASSET(vega_lite_js, SEXTANT_VEGA_DIR "/vega-lite.min.js")
SEXTANT_ASSET(vega_embed_js, SEXTANT_VEGA_DIR "/vega-embed.min.js")
SEXTANT_ASSET(vega_license, SEXTANT_VEGA_DIR "/LICENSE.vega")
SEXTANT_ASSET(vega_lite_license, SEXTANT_VEGA_DIR "/LICENSE.vega-lite")
SEXTANT_ASSET(vega_embed_license, SEXTANT_VEGA_DIR "/LICENSE.vega-embed")
SEXTANT_ASSET(bundled_licenses, SEXTANT_VEGA_DIR "/BUNDLED_LICENSES.txt")
SEXTANT_ASSET(page_css, SEXTANT_ASSETS_DIR "/page.css")
SEXTANT_ASSET(page_js, SEXTANT_ASSETS_DIR "/page.js")
