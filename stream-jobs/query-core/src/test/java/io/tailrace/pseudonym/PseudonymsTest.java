package io.tailrace.pseudonym;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tailrace.testing.Contract;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.OAEPParameterSpec;
import javax.crypto.spec.PSource;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The test opens what {@link NameSealer} seals with the JDK's ciphers, as {@code tailrace reveal} does in Python. */
class PseudonymsTest {

    static List<Map<String, Object>> names() throws IOException {
        return Contract.cases(Contract.of("pseudonym"), "names");
    }

    static List<Map<String, Object>> sealedNames() throws IOException {
        return Contract.cases(vault(), "names");
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> vault() throws IOException {
        return (Map<String, Object>) Contract.of("pseudonym").get("vault");
    }

    private static Pseudonyms pseudonyms() throws IOException {
        return new Pseudonyms(
                HexFormat.of().parseHex((String) Contract.of("pseudonym").get("key")));
    }

    @ParameterizedTest
    @MethodSource("names")
    void aNameHasTheSamePseudonymInAllLanguages(Map<String, Object> given) throws IOException {
        SubjectKind kind = SubjectKind.valueOf(((String) given.get("kind")).toUpperCase(Locale.ROOT));
        String name = (String) given.get("name");
        assertThat(pseudonyms().of(kind, name)).isEqualTo(given.get("pseudonym"));
        assertThat(Pseudonyms.isClear(kind, name)).isEqualTo(name.equals(given.get("pseudonym")));
    }

    @ParameterizedTest
    @MethodSource("sealedNames")
    void opensWhatAnotherLanguageSealed(Map<String, Object> given) throws Exception {
        SealedName sealed = new SealedName((String) given.get("wrapped_key"), (String) given.get("sealed_name"));
        assertThat(open((String) given.get("pseudonym"), sealed)).isEqualTo(given.get("name"));
    }

    @Test
    void eachNameHasAKeyOfItsOwn() throws Exception {
        NameSealer sealer = new NameSealer(NameSealer.publicKey(pem()));
        SealedName one = sealer.seal("p1-user-1", "etl");
        SealedName other = sealer.seal("p1-user-1", "etl");
        assertThat(open("p1-user-1", one)).isEqualTo("etl");
        assertThat(one.wrappedKey()).isNotEqualTo(other.wrappedKey());
        assertThatThrownBy(() -> open("p1-user-1", new SealedName(other.wrappedKey(), one.sealedName())))
                .isInstanceOf(AEADBadTagException.class);
    }

    @Test
    void aNameBelongsToItsPseudonym() throws Exception {
        SealedName sealed = new NameSealer(NameSealer.publicKey(pem())).seal("p1-user-1", "etl");
        assertThatThrownBy(() -> open("p1-user-2", sealed)).isInstanceOf(AEADBadTagException.class);
    }

    @Test
    void anotherKeyHasOtherPseudonyms() throws IOException {
        assertThat(new Pseudonyms(new byte[Pseudonyms.KEY_BYTES]).of(SubjectKind.USER, "etl"))
                .isNotEqualTo(pseudonyms().of(SubjectKind.USER, "etl"));
    }

    @Test
    void refusesKeysThatItCannotUse() {
        assertThatThrownBy(() -> new Pseudonyms(new byte[16])).hasMessageContaining("32 bytes");
        assertThatThrownBy(() -> NameSealer.publicKey("no key")).hasMessageContaining("public RSA key");
    }

    private static String pem() throws IOException {
        return "-----BEGIN PUBLIC KEY-----\n" + vault().get("public_key") + "\n-----END PUBLIC KEY-----\n";
    }

    private static String open(String pseudonym, SealedName sealed) throws GeneralSecurityException, IOException {
        Base64.Decoder base64 = Base64.getDecoder();
        PrivateKey vault = KeyFactory.getInstance("RSA")
                .generatePrivate(new PKCS8EncodedKeySpec(base64.decode((String) vault().get("key_for_tests_only"))));
        Cipher unwrap = Cipher.getInstance("RSA/ECB/OAEPPadding");
        unwrap.init(
                Cipher.DECRYPT_MODE,
                vault,
                new OAEPParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, PSource.PSpecified.DEFAULT));
        byte[] key = unwrap.doFinal(base64.decode(sealed.wrappedKey()));
        byte[] whole = base64.decode(sealed.sealedName());
        Cipher unseal = Cipher.getInstance("AES/GCM/NoPadding");
        unseal.init(Cipher.DECRYPT_MODE, new SecretKeySpec(key, "AES"), new GCMParameterSpec(128, whole, 0, 12));
        unseal.updateAAD(pseudonym.getBytes(StandardCharsets.UTF_8));
        return new String(unseal.doFinal(Arrays.copyOfRange(whole, 12, whole.length)), StandardCharsets.UTF_8);
    }
}
