{#- The first three names of an array as text, and how many more there are: `a, b, c and 2 more`. -#}
{%- macro first_three(names) -%}
    concat(arrayStringConcat(arraySlice({{ names }} AS all_names, 1, 3), ', '),
        if(length(all_names) > 3, concat(' and ', toString(length(all_names) - 3), ' more'), ''))
{%- endmacro -%}
