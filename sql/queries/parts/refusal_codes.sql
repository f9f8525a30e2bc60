{#- Error codes that refuse an account: schemas/contracts/refusal_code.json. Those of logins concern the account and its password;
    statements lack the privileges of the others. -#}
{%- set login_codes = [1045, 1698, 1862, 3118, 3955, 4151] -%}
{%- set privilege_codes = [1044, 1142, 1143, 1227, 1370] -%}
{%- macro privilege_refusals() -%} ({{ privilege_codes | join(', ') }}) {%- endmacro -%}
{%- macro all_refusals() -%} ({{ (login_codes + privilege_codes) | join(', ') }}) {%- endmacro -%}
