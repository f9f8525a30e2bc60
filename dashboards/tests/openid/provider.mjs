// A certified OpenID provider with one client, whose people are in a file that it reads at each request.
//
//   node provider.mjs SETTINGS     a JSON file: port, issuer, client (as in oidc-provider), people
//
// `people` names a JSON file: {"ann": {"groups": ["soc"], …}}. A person that is not in it cannot log in.
import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import Provider from "oidc-provider";

const settings = JSON.parse(readFileSync(process.argv[2], "utf8"));
const people = () => JSON.parse(readFileSync(settings.people, "utf8"));

const provider = new Provider(settings.issuer, {
  clients: [settings.client],
  jwks: { keys: [{ ...generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" }), use: "sig" }] },
  cookies: { keys: ["only for tests"] },
  pkce: { required: () => true },
  claims: { openid: ["sub"], profile: ["preferred_username", "given_name", "family_name", "groups"], email: ["email"] },
  // Each login issues a refresh token, as Keycloak does.
  issueRefreshToken: async (_, client) => client.grantTypeAllowed("refresh_token"),
  async findAccount(_, id) {
    const person = people()[id];
    return person && { accountId: id, claims: async () => ({ sub: id, preferred_username: id, ...person }) };
  },
});
provider.listen(settings.port, "127.0.0.1", () => console.log("listening"));
