# IsaKernels.cmake: leaf kernels that are compiled once per instruction set.
# Each src/kernels/*_isa.c is compiled with LG_ISA = base, avx2 and avx512 (base alone on other processors than x86-64)
# and exports its symbols with that suffix; a dispatcher beside it picks one at run time. So the program needs no
# tuning for the machine it was built on.
set(LGELU_ISA_base "")
set(LGELU_ISA_avx2 -mavx2 -mfma)
set(LGELU_ISA_avx512 -mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mprefer-vector-width=512)

# Adds the kernels' objects to target; target's sources see LG_HAVE_X86_ISA when there are more sets than base.
function(lgelu_isa_kernels target)
  file(GLOB kernels CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/kernels/*_isa.c)
  set(sets base)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    set(sets base avx2 avx512)
    target_compile_definitions(${target} PRIVATE LG_HAVE_X86_ISA)
  endif()
  if(NOT kernels)
    return()
  endif()
  foreach(isa ${sets})
    add_library(lgelu_isa_${isa} OBJECT ${kernels})
    target_compile_definitions(lgelu_isa_${isa} PRIVATE LG_ISA=${isa})
    target_compile_options(lgelu_isa_${isa} PRIVATE ${LGELU_ISA_${isa}})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:lgelu_isa_${isa}>)
  endforeach()
endfunction()
