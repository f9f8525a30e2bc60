{#- A column whose empty values have a name that people can click and filter by. -#}
{%- macro named(column) -%} if({{ column }} = '', '(none)', {{ column }}) AS {{ column }} {%- endmacro -%}
