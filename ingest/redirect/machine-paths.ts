/**
 * Paths that browsers, crawlers, and scanners request from every host, in any folder. They are not clicks. A link with
 * such a name takes precedence.
 */

/**
 * Files of a host. Sources: Apple, "Configuring Web Applications" (touch icons); sitemaps.org; IAB Tech Lab (`ads.txt`,
 * `app-ads.txt`, `sellers.json`); RFC 9116 (`security.txt`); W3C, "Web Application Manifest"; humanstxt.org;
 * llmstxt.org; Microsoft, "Browser configuration schema" and "Autodiscover for Exchange"; Adobe, "Cross-domain policy
 * file"; Apple, "Supporting associated domains" (its older place); web.dev, "Service worker registration" (`sw.js`);
 * RealFaviconGenerator (`mstile`, `android-chrome`, `safari-pinned-tab`); OpenSearch 1.1.
 */
const FILES =
  /(?:^|\/)(?:apple-touch-icon[\w.-]*\.png|favicon[\w.-]*\.\w+|(?:[\w-]+-)?sitemap[\w.-]*\.(?:xml|txt)(?:\.gz)?|mstile-\d+x\d+\.png|android-chrome-\d+x\d+\.png|safari-pinned-tab\.svg|opensearch\.xml|(?:app-)?ads\.txt|sellers\.json|security\.txt|humans\.txt|llms(?:-full)?\.txt|manifest\.json|[\w-]+\.webmanifest(?:\.json)?|browserconfig\.xml|crossdomain\.xml|clientaccesspolicy\.xml|apple-app-site-association|autodiscover\/autodiscover\.(?:xml|json)|(?:sw|service-worker)\.js)$|^(?:favicon[\w.-]*|manifest)$/i;

/**
 * Paths that scanners request to find vulnerabilities of other software. Sources: the paths of the OWASP Core Rule Set
 * (`restricted-files.data`, `php-errors`), and of WordPress, phpMyAdmin, PHPUnit, Spring Boot, Apache (`server-status`,
 * Struts, Solr, Druid, Tomcat's manager), Docker Compose and registries, Kubernetes, Terraform, ASP.NET, Exchange,
 * Laravel, Symfony, Yii, GeoServer, FortiOS, npm, Composer, OpenSSH, and routers (`boaform`, `GponForm`).
 */
const SCANNED =
  /(?:^|\/)\.(?:env|git|aws|ssh|svn|hg|vscode|htaccess|htpasswd|ds_store)|\.(?:php\d?|phtml|aspx?|jspx?|cgi|sql|bak)$|(?:^|\/)(?:wp-(?:admin|content|includes|json|login)|cgi-bin|phpmyadmin|vendor\/phpunit|_ignition|hnap1)(?:\/|$)|^(?:actuator|_profiler|telescope|geoserver|gponform|druid|ecp)(?:\/|$)/i;

const LEFT_BEHIND =
  /(?:^|\/)(?:wlwmanifest\.xml|docker-compose\.ya?ml|(?:package(?:-lock)?|composer|credentials|config)\.json|composer\.lock|web\.config|appsettings(?:\.\w+)?\.json|swagger\.json|terraform\.tfstate(?:\.backup)?|id_(?:rsa|dsa|ecdsa|ed25519))$|^(?:server-status|login\.action|phpinfo|v2\/_catalog|manager\/html|remote\/login|api\/v1\/pods|debug\/default\/view)$|^(?:solr|boaform)(?:\/|$)|^(?:backup|dump|site|www|website|db|database)[\w.-]*\.(?:zip|rar|7z|tar|tgz|gz|bz2)$/i;

/** Whether only programs request a path. @param path without the slash before it */
export function isHostFile(path: string): boolean {
  return FILES.test(path);
}

/**
 * Whether scanners request a path, as may people who have an old address of the site.
 *
 * @param path without the slash before it
 */
export function isScannedPath(path: string): boolean {
  return SCANNED.test(path) || LEFT_BEHIND.test(path);
}
