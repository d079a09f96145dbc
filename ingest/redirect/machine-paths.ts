/**
 * Paths that browsers, crawlers, and scanners request from every host. No person asked for them, so they are not
 * clicks. A link with such a name takes precedence.
 */

/**
 * Files of a host. Sources: Apple, "Configuring Web Applications" (touch icons); sitemaps.org; IAB Tech Lab (`ads.txt`,
 * `app-ads.txt`, `sellers.json`); RFC 9116 (`security.txt`); W3C, "Web Application Manifest"; humanstxt.org;
 * llmstxt.org; Microsoft, "Browser configuration schema" and "Autodiscover for Exchange"; Adobe, "Cross-domain policy
 * file"; Apple, "Supporting associated domains" (its older place); web.dev, "Service worker registration" (`sw.js`).
 */
const FILES =
  /^(?:apple-touch-icon[\w.-]*\.png|favicon[\w.-]*|sitemap[\w.-]*\.xml(?:\.gz)?|(?:app-)?ads\.txt|sellers\.json|security\.txt|humans\.txt|llms(?:-full)?\.txt|(?:site\.web)?manifest(?:\.json)?|site\.webmanifest|browserconfig\.xml|crossdomain\.xml|clientaccesspolicy\.xml|apple-app-site-association|autodiscover\/autodiscover\.xml|sw\.js)$/i;

/**
 * Paths that scanners request to find vulnerabilities of other software. Sources: the paths of the OWASP Core Rule Set
 * (`restricted-files.data`, `php-errors`), and of WordPress, phpMyAdmin, PHPUnit, Spring Boot, Apache (`server-status`,
 * Struts, Solr), Docker Compose, npm, Composer, OpenSSH, and routers (`boaform`).
 */
const SCANNED =
  /(?:^|\/)\.(?:env|git|aws|ssh|svn|hg|vscode|htaccess|htpasswd|ds_store)|\.(?:php\d?|phtml|aspx?|jspx?|cgi|sql|bak)$|^(?:wp-(?:admin|content|includes|json|login)|cgi-bin|phpmyadmin|vendor\/phpunit|actuator|_ignition|hnap1)(?:\/|$)/i;

const LEFT_BEHIND =
  /(?:^|\/)(?:wlwmanifest\.xml|docker-compose\.ya?ml|(?:package(?:-lock)?|composer|credentials|config)\.json|composer\.lock|id_(?:rsa|dsa|ecdsa|ed25519))$|^(?:server-status|login\.action)$|^(?:solr|boaform)(?:\/|$)|^(?:backup|dump|site|www|website|db|database)[\w.-]*\.(?:zip|rar|7z|tar|tgz|gz|bz2)$/i;

/** @param path without the slash before it */
export function isMachinePath(path: string): boolean {
  return FILES.test(path) || SCANNED.test(path) || LEFT_BEHIND.test(path);
}
