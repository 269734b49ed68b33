# sextant_python_folder(out): where the interpreter looks for packages, as a path below the install prefix.
#
# Debian and Ubuntu have two places: lib/python3/dist-packages below /usr, lib/python3.11/dist-packages below /usr/local.
# All others have lib/python3.11/site-packages.
function(sextant_python_folder out)
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -c "import sysconfig; print('deb_system' in sysconfig.get_scheme_names())"
    OUTPUT_VARIABLE is_debian
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(version python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR})
  if(is_debian STREQUAL True AND CMAKE_INSTALL_PREFIX STREQUAL /usr)
    set(${out} lib/python3/dist-packages PARENT_SCOPE)
  elseif(is_debian STREQUAL True)
    set(${out} lib/${version}/dist-packages PARENT_SCOPE)
  else()
    set(${out} lib/${version}/site-packages PARENT_SCOPE)
  endif()
endfunction()
