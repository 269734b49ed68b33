# Files of probes/fleet, relative to probes/.
set(SEXTANT_FLEET_HEADERS
    fleet/cluster_difference.h
    fleet/deviants.h
    fleet/host_effects.h
    fleet/link_difference.h
    fleet/odd_links.h
    fleet/odd_ones.h
    fleet/value_change.h)
set(SEXTANT_FLEET_SOURCES
    fleet/cluster_difference.cpp
    fleet/cluster_difference_json.cpp
    fleet/deviants.cpp
    fleet/host_effects.cpp
    fleet/link_difference.cpp
    fleet/odd_links.cpp
    fleet/odd_ones.cpp
    fleet/value_change.cpp)
