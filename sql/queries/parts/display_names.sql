{#- A column with a name for empty values, so that users can click and filter by it. -#}
{%- macro named(column) -%} if({{ column }} = '', '(none)', {{ column }}) AS {{ column }} {%- endmacro -%}
