package io.tailrace.detection.detector.firstseen;

import java.util.Locale;
import java.util.regex.Pattern;

/** Kinds of columns whose first change, or whose reads one by one, are a reason to ask. Kinds are known by names. */
public enum ColumnKind {
    SECRETS(
            "(.*_)?(pwd|pw|pass|otp|totp|mfa|\\?fa|pin|mdp|hash|salt|digest)(_.*)?|.*(password|passwd|kennwort|passwort|token"
                    + "|secret|contrasena|senha|wachtwoord|haslo|heslo|jelszo|parola|sifre|losenord|salasana|parool|geslo|adgangskode"
                    + "|passord|kata_sandi|mat_khau|nenosiri|lozinka|slaptazodis|jeton|apikey|api_key|private_key"
                    + "|recovery_code"
                    + "|(door|gate|alarm|entry|access|unlock|safe|vault|locker)_?(code|pin)).*|clave(_.*)?"),
    RIGHTS("(.*_)?(role|roles|role_?id|is_?admin|admin|is_?staff|is_?superuser|superuser|is_?moderator|permissions?"
            + "|privileges?|acl|scopes?|rights?|clearance|tier|user_?type|account_?type|is_?owner"
            + "|group_?id|usergroup|trust_?level|access_?level|user_?level|rolle|rollen_?id"
            + "|gruppe|berechtigung(en)?|rol|rol_?id|perfil|perfil_?id|permisos|nivel_?acceso|profil_?id|droits"
            + "|niveau_?acces|ruolo|ruolo_?id|permessi|es_?admin|ist_?admin|est_?admin|papel|rola"
            + "|rettigheder|rettigheter|behorighet|rooli|kayttooikeudet|opravneni|jogosultsag|szerepkor"
            + "|drepturi|uloga|hak_?akses|peran|yetki)"),
    BANK_DETAILS(
            "(.*_)?(iban|bic|swift|swift_?code|rib|account_?number|account_?no|routing_?number|sort_?code|bank_?account"
                    + "|kontonummer|konto_?nr|bankverbindung|cuenta_?bancaria|clabe|numero_?compte|conto_?corrente"
                    + "|payout_?account|wallet_?address|nr_?konta|numer_?konta|rachunek|numero_?conta|chave_?pix"
                    + "|cislo_?uctu|hesap_?no|rekening_?(nummer|nr)|no(mor)?_?rekening"
                    + "|konto_?nummer|kontonr|bankkonto|tilinumero|szamlaszam|numar_?cont|cont_?bancar|broj_?racuna"
                    + "|cbu|so_tai_khoan)(_.*)?"),
    BALANCES(
            "(.*_)?(balance|balances|credit_?limit|saldo|solde|kontostand|guthaben|salary|wage|gehalt|lohn|salario|salaire"
                    + "|stipendio|wynagrodzenie|pensja|wyplata|mzda|maas|bakiye|zustatek"
                    + "|salaris|loon|gaji|palkka|fizetes|salariu|lonn|saldi|tegoed|bonus|payout|payout_?amount)(_.*)?"),
    PAY("(.*_)?(salary|salaries|wages?|gehalt|gehaelter|lohn|salario|salaire|stipendio|salaris|wynagrodzenie"
            + "|pensja|wyplata|mzda|maas|loon|gaji|palkka|fizetes|salariu|lonn)(_.*)?"),
    AMOUNTS("(.*_)?(amounts?|price|cost|fees?|total|discount|refund|refunded|points|credits|charge|paid|betrag|preis"
            + "|kosten|importe|monto|montant|importo|prezzo|precio|prix|valor|bedrag|prijs|kwota|cena|preco|castka|tutar|fiyat"
            + "|vergoeding|belop|belob|hinta|osszeg|iznos|znesek|harga|kiasi)"
            + "(_due|_paid|_net|_gross|_total|_eur|_usd|_cents?)?"),
    /** Numbers by which a state knows a person. They are a reason to ask for reads only. */
    IDENTITY_NUMBERS("(.*_)?(ssn|social_?security(_?(no|number))?|national_?id|ni_?number|passport(_?(no|number))?"
            + "|citizen_?id|identity_?(no|number)|id_?card(_?(no|number))?|nhs_?number|medicare(_?(no|number))?|bsn"
            + "|rijksregisternummer|cpf|nif|curp|codice_?fiscale|pesel|rodne_?cislo|cnp|oib|jmbg|egn|emso|person_?(nummer|nr)"
            + "|(fodsels|foedsels)_?(nummer|nr)|cpr(_?(nr|nummer))?|henkilotunnus|hetu|isikukood|kennitala|aadhaa?r|no_?ktp"
            + "|cccd|nric|hkid|my_?number|tckn|tc_?kimlik(_?no)?|kimlik_?no|amka|taj_?szam|ahv_?(nr|nummer)|numero_?secu"
            + "|steuer_?id|sozialversicherungs_?(nr|nummer)|svnr|versicherten_?(nr|nummer))");

    private final Pattern columns;

    ColumnKind(String columns) {
        this.columns = Pattern.compile(columns);
    }

    /** @param column name without quotes, in lower case; {@code ?} stands for its digits */
    public boolean contains(String column) {
        return columns.matcher(column).matches();
    }

    /** Returns the name in alerts, such as {@code bank details}. */
    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
